"use strict";
// root: the document, or where the single file shows the same page (an element's shadow).
function pt2ranks(root) {
  var $ = function (s) { return root.querySelector(s); };

  // A click on a head sorts its column; rows keep their order where the column is empty.
  root.querySelectorAll("table.sort").forEach(function (table) {
    var heads = table.rows[0].cells;
    Array.prototype.forEach.call(heads, function (head, col) {
      head.tabIndex = 0;
      var sort = function () {
        var down = head.getAttribute("aria-sort") === "ascending";
        Array.prototype.forEach.call(heads, function (h) { h.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        var value = function (row) {
          var cell = row.cells[col], v = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent, n = parseFloat(v);
          return isNaN(n) ? v : n;
        };
        var rows = Array.prototype.slice.call(table.rows, 1).map(function (r) { return [value(r), r]; });
        rows.sort(function (a, b) {
          var x = a[0], y = b[0], c = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
          return down ? -c : c;
        });
        rows.forEach(function (r) { r[1].parentNode.appendChild(r[1]); });
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", function (e) { if (e.key === "Enter") sort(); });
    });
  });

  var filter = $("#filter");
  filter.addEventListener("input", function () {
    var want = filter.value.trim().toLowerCase();
    Array.prototype.slice.call($("#plist").rows, 1).forEach(function (row) {
      row.hidden = want !== "" && row.textContent.toLowerCase().indexOf(want) < 0;
    });
  });

  // ---- timeline ----
  var data = JSON.parse($("#spans").textContent), box = $("#draw");
  var names = data.p, S = data.s, M = data.m, labels = data.l, all = Math.max(data.end, 1);
  var canvas = document.createElement("canvas"), tip = document.createElement("div"), g = canvas.getContext("2d");
  var row = names.length > 400 ? 6 : names.length > 60 ? 12 : 22, head = 22, left = row > 10 ? 92 : 8, from = 0, to = all;
  tip.id = "tip";
  tip.hidden = true;
  box.textContent = "";
  box.appendChild(canvas);
  (root.body || root).appendChild(tip);

  // The same function has the same colour on all ranks, whatever its compile id.
  var hues = labels.map(function (l) {
    var at = l.indexOf(" "), s = at < 0 ? l : l.slice(at + 1) || l, h = 7;
    for (var i = 0; i < s.length; i++) h = (h * 31 + s.charCodeAt(i)) | 0;
    return Math.abs(h * 137) % 360;
  });
  var time = function (us) {
    return us >= 6e7 ? Math.floor(us / 6e7) + " min " + (us % 6e7 / 1e6).toFixed(1) + " s" : us >= 1e6 ? (us / 1e6).toFixed(2) + " s" : (us / 1e3).toFixed(1) + " ms";
  };
  function draw() {
    var dpr = window.devicePixelRatio || 1, w = box.clientWidth, h = head + names.length * row + 4;
    var most = 16000; // pixels that browsers draw
    if (h * dpr > most) dpr = Math.max(most / h, 0.2);
    canvas.width = w * dpr;
    canvas.height = h * dpr;
    canvas.style.height = h + "px";
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    var css = getComputedStyle(document.documentElement), ink = css.getPropertyValue("--ink"), dim = css.getPropertyValue("--dim"), line = css.getPropertyValue("--line");
    var sat = css.getPropertyValue("--sat"), lum = css.getPropertyValue("--lum"), bad = css.getPropertyValue("--bad");
    var x = function (t) { return left + (t - from) / (to - from) * (w - left - 8); };
    g.clearRect(0, 0, w, h);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    var step = Math.pow(10, Math.floor(Math.log10((to - from) / 4)));
    if ((to - from) / step > 16) step *= 5; else if ((to - from) / step > 8) step *= 2;
    for (var t = Math.ceil(from / step) * step; t <= to; t += step) {
      g.fillStyle = line;
      g.fillRect(x(t), head - 4, 1, h);
      g.fillStyle = dim;
      if (x(t) < w - 56) g.fillText("+" + time(t), x(t) + 3, 9);
    }
    g.save();
    g.beginPath();
    g.rect(left, 0, w - left, h);
    g.clip();
    for (var i = 0; i < S.length; i += 5) {
      var a = x(S[i + 1]), b = x(S[i + 1] + S[i + 2]), y = head + S[i] * row;
      if (b < left || a > w) continue;
      g.fillStyle = "hsl(" + hues[S[i + 3]] + "," + sat + "," + lum + ")";
      g.globalAlpha = S[i + 4] === 2 ? 0.45 : 1;
      g.fillRect(a, y + 2, Math.max(b - a, 1), S[i + 4] === 1 ? row / 2 - 1 : row - 4);
      g.globalAlpha = 1;
      if (row > 16 && b - a > 40) {
        g.save();
        g.beginPath();
        g.rect(a, y, b - a - 3, row);
        g.clip();
        g.fillStyle = "#fff";
        g.fillText(labels[S[i + 3]], Math.max(a, left) + 4, y + row / 2);
        g.restore();
      }
    }
    g.textAlign = "center";
    for (i = 0; i < M.length; i += 4) {
      a = x(M[i + 1]);
      if (a < left - 5 || a > w) continue;
      g.fillStyle = M[i + 2] === 2 ? bad : ink;
      g.fillText(M[i + 2] === 0 ? "▼" : M[i + 2] === 1 ? "◆" : "✕", a, head + M[i] * row + row / 2);
    }
    g.textAlign = "left";
    g.restore();
    if (row > 10)
      names.forEach(function (n, k) {
        g.fillStyle = ink;
        g.fillText(n.length > 13 ? n.slice(0, 12) + "…" : n, 6, head + k * row + row / 2);
      });
  }
  function place(e) {
    var r = canvas.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top, w: r.width };
  }
  function at(e) {
    var q = place(e), p = Math.floor((q.y - head) / row), t = from + (q.x - left) / (q.w - left - 8) * (to - from), slack = (to - from) / q.w * 5, best = "", size = Infinity, i;
    if (p < 0 || p >= names.length) return "";
    for (i = 0; i < M.length; i += 4)
      if (M[i] === p && Math.abs(M[i + 1] - t) < slack) return names[p] + ": " + ["graph break", "recompile", "failure"][M[i + 2]] + " " + labels[M[i + 3]];
    for (i = 0; i < S.length; i += 5)
      if (S[i] === p && t >= S[i + 1] - slack && t <= S[i + 1] + S[i + 2] + slack && S[i + 2] < size) {
        size = S[i + 2];
        best = names[p] + ": " + labels[S[i + 3]] + (S[i + 4] === 1 ? ", backward" : S[i + 4] === 2 ? ", not finished" : "") + ", " + time(S[i + 2]) + ", from +" + time(S[i + 1]);
      }
    return best || names[p];
  }
  var drag = null;
  canvas.addEventListener("mousemove", function (e) {
    if (drag) {
      var d = (drag.x - e.clientX) / (box.clientWidth - left - 8) * (drag.to - drag.from), keep = drag.to - drag.from;
      from = Math.min(Math.max(drag.from + d, 0), all - keep);
      to = from + keep;
      draw();
    }
    var s = at(e);
    tip.hidden = !s;
    tip.textContent = s;
    tip.style.left = Math.min(e.clientX + 12, window.innerWidth - 320) + "px";
    tip.style.top = e.clientY + 14 + "px";
  });
  canvas.addEventListener("mouseleave", function () { tip.hidden = true; });
  canvas.addEventListener("mousedown", function (e) { drag = { x: e.clientX, from: from, to: to }; });
  window.addEventListener("mouseup", function () { drag = null; });
  canvas.addEventListener("dblclick", function () { from = 0; to = all; draw(); });
  canvas.addEventListener("wheel", function (e) {
    var q = place(e), f = Math.exp(e.deltaY / 400), c = from + (q.x - left) / (q.w - left - 8) * (to - from);
    if (f > 1 && to - from >= all) return; // nothing to zoom: the page scrolls
    e.preventDefault();
    var span = Math.min(Math.max((to - from) * f, 100), all);
    from = Math.min(Math.max(c - (c - from) * span / (to - from), 0), all - span);
    to = from + span;
    draw();
  }, { passive: false });
  var wide = 0;
  new ResizeObserver(function () { if (box.clientWidth !== wide) { wide = box.clientWidth; draw(); } }).observe(box);
  window.addEventListener("pt2theme", draw);
  if (window.matchMedia) window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
if (!window.pt2) pt2ranks(document);
