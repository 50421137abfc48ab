// Lists and tables that render only what is seen, the code viewer, the dialog.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h;

  // Browsers stop at some 17 to 33 million pixels; a longer list is scrolled in proportion.
  const TALLEST = 8e6;

  pt2.searchBox = (label, oninput, more) => h("input", Object.assign({ type: "search", placeholder: label, "aria-label": label, spellcheck: "false", autocomplete: "off", oninput }, more));

  // Rows of one height inside box, which scrolls. render(i) makes row i. lead: pixels above the first row (a sticky head).
  pt2.list = function (box, { count, height, render, lead = 0, all = 0 }) {
    const space = h("div.space", { role: "presentation" });
    box.append(space);
    let rows = new Map(), n = count, frame = 0;
    function place(el, i, shift) { el.style.transform = "translateY(" + (i * height + shift) + "px)"; }
    function draw() {
      frame = 0;
      const view = box.clientHeight;
      if (!view && !(n <= all)) return;
      const full = n * height, tall = Math.min(full, TALLEST);
      let top = Math.max(0, box.scrollTop - lead), shift = 0;
      if (full > tall) {
        const want = top * (full - view) / Math.max(1, tall - view);
        shift = top - want;
        top = want;
      }
      let first = Math.max(0, Math.floor(top / height) - 10), last = Math.min(n, Math.ceil((top + view) / height) + 10);
      if (n <= all) { first = 0; last = n; }
      for (const [i, el] of rows) {
        if (i >= first && i < last) { if (shift) place(el, i, shift); continue; }
        el.remove();
        rows.delete(i);
      }
      let fresh = null;
      for (let i = first; i < last; i++) {
        if (rows.has(i)) continue;
        const el = render(i);
        el.classList.add("vrow");
        place(el, i, shift);
        rows.set(i, el);
        (fresh = fresh || document.createDocumentFragment()).append(el);
      }
      if (fresh) space.append(fresh);
    }
    const later = () => { if (!frame) frame = requestAnimationFrame(draw); };
    box.addEventListener("scroll", later, { passive: true });
    new ResizeObserver(later).observe(box);
    function size() { space.style.height = Math.min(n * height, TALLEST) + "px"; }
    size();
    const list = {
      space, draw,
      refresh(count) {
        if (count != null) n = count;
        for (const el of rows.values()) el.remove();
        rows = new Map();
        size();
        draw();
      },
      show(i, middle) {
        const full = n * height, tall = Math.min(full, TALLEST), view = box.clientHeight - lead;
        const scale = full > tall ? (tall - view) / (full - view) : 1;
        const top = i * height * scale, now = box.scrollTop;
        if (middle) { if (top < now || top > now + view - 2 * height) box.scrollTop = Math.max(0, top - view / 2); }
        else if (top < now) box.scrollTop = top;
        else if (top + height > now + view) box.scrollTop = top + height - view;
        draw();
      },
      row: i => rows.get(i),
      each(f) { rows.forEach((el, i) => f(i, el)); },
    };
    return list;
  };

  // columns: {title, width (CSS), cell(row) -> text or node, sort(row) -> number or string, num, tip, unit}
  // custom(row) -> element for rows that span all columns (group heads).
  pt2.table = function ({ label, columns, rows, open, custom, order, desc, height = 30, onsort }) {
    const root = h("div.table", { role: "table", "aria-label": label, "aria-rowcount": rows.length + 1 });
    const head = h("div.thead", { role: "row" });
    const shell = h("div.tablebox", null, root);
    let shown = rows, sorted = order == null ? -1 : order, down = !!desc, active = 0;
    root.append(head);

    function heads() {
      const widths = columns.map(c => c.width || "minmax(90px, 1fr)");
      root.style.setProperty("--cols", widths.join(" "));
      root.style.setProperty("--least", widths.reduce((n, w) => n + parseFloat(w.replace(/^\D+/, "")), 0) + "px");
      head.replaceChildren(...columns.map((c, i) => {
        const inner = c.sort
          ? h("button", { type: "button", onclick: () => sortBy(i), title: c.tip || "Sort by " + c.title }, c.title, c.unit && h("small", null, c.unit),
            sorted === i && h("span.arrow", { "aria-hidden": "true" }, down ? "▼" : "▲"))
          : h("span", { title: c.tip }, c.title);
        return h("div.th" + (c.num ? ".num" : ""), { role: "columnheader", "aria-sort": sorted === i ? (down ? "descending" : "ascending") : c.sort ? "none" : null }, inner);
      }));
    }
    function sortBy(i, dir) {
      if (dir != null) { sorted = i; down = dir; }
      else if (sorted === i) { if (down === !!columns[i].num) down = !down; else { sorted = -1; down = false; } }
      else { sorted = i; down = !!columns[i].num; }
      apply();
      heads();
      if (onsort) onsort(sorted);
    }
    function apply() {
      shown = rows;
      const c = columns[sorted];
      if (c && c.sort) {
        const keyed = rows.map((r, i) => [c.sort(r), i, r]);
        const sign = down ? -1 : 1;
        keyed.sort(([a, i], [b, j]) => {
          const na = a == null || a === "", nb = b == null || b === "";      // what is not known goes last, either way
          if (na || nb) return na && nb ? i - j : na ? 1 : -1;
          const d = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
          return d * sign || i - j;
        });
        shown = keyed.map(k => k[2]);
      }
      if (active >= shown.length) active = 0;
      root.setAttribute("aria-rowcount", shown.length + 1);
      list.refresh(shown.length);
      empty.hidden = shown.length > 0;
    }
    function render(i) {
      const r = shown[i];
      let el = custom && custom(r, i);
      if (!el) {
        el = h("div.tr" + (open ? ".opens" : ""), null, columns.map(c => {
          const v = c.cell(r);
          return h("div.td" + (c.num ? ".num" : ""), { role: "cell", title: typeof v === "string" && v.length > 8 ? v : null }, v == null ? "–" : v);
        }));
        if (open) el.addEventListener("click", e => { if (!e.target.closest("a,button") && String(getSelection()) === "") { active = i; open(r); } });
      }
      el.setAttribute("role", "row");
      el.setAttribute("aria-rowindex", i + 2);
      el.tabIndex = i === active ? 0 : -1;
      return el;
    }
    root.addEventListener("keydown", e => {
      const page = Math.max(1, Math.floor(root.clientHeight / height) - 2);
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[e.key];
      if (!e.target.classList.contains("vrow")) return;
      if (step) {
        e.preventDefault();
        const old = list.row(active);
        if (old) old.tabIndex = -1;
        active = Math.max(0, Math.min(shown.length - 1, active + step));
        list.show(active);
        const el = list.row(active);
        if (el) { el.tabIndex = 0; el.focus({ preventScroll: true }); }
      } else if (e.key === "Enter" || e.key === " ") {
        e.preventDefault();
        if (custom && custom(shown[active])) e.target.click();
        else if (open) open(shown[active]);
      }
    });
    root.style.setProperty("--row", height + "px");
    const list = pt2.list(root, { count: 0, height, render, lead: 34 });
    list.space.setAttribute("role", "rowgroup");
    const empty = h("p.empty", null, "No entries.");
    shell.append(empty);
    heads();
    apply();
    return {
      el: shell, root, list,
      set(next, nextColumns) {
        rows = next;
        if (nextColumns) {
          const was = columns[sorted] && columns[sorted].title;
          columns = nextColumns;
          sorted = columns.findIndex(c => c.title === was);
          heads();
        }
        apply();
      },
      unsort() { sorted = -1; heads(); apply(); },
      reveal(test) { const i = shown.findIndex(test); if (i >= 0) { active = i; list.show(i, true); list.refresh(); } },
    };
  };

  // ---- code --------------------------------------------------------------------------------------------------

  const ROW = 19, LONG = 2000, MATCHES = 20000;
  const escapeRe = s => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  pt2.matcher = text => new RegExp(escapeRe(text), "gi");

  // A text with line numbers, coloured as lang. Lines longer than the wrap width are cut into rows, so a row's height is known.
  // mark(line, el), when given, may set classes of a row of that line; its element then has the line in data-line.
  pt2.code = function (text, lang, label, mark) {
    const colour = pt2.langs[lang];
    const box = h("div.code", { tabindex: "0", role: "region", "aria-label": label || "Code" });
    let from, to, number, states, known, matches = [], current = -1, timer = 0, list;

    function layout(cols) {
      from = [];
      to = [];
      number = [];
      let line = 1, longest = 0;
      for (let i = 0; i <= text.length; line++) {
        let e = text.indexOf("\n", i);
        if (e < 0) e = text.length;
        let stop = e;
        if (stop > i && text.charCodeAt(stop - 1) === 13) stop--;
        let a = i;
        do {
          const b = Math.min(stop, a + cols);
          from.push(a);
          to.push(b);
          number.push(line);
          if (b - a > longest) longest = b - a;
          a = b;
        } while (a < stop);
        i = e + 1;
      }
      if (from.length > 1 && from[from.length - 1] === text.length && text.endsWith("\n")) { from.pop(); to.pop(); number.pop(); line--; }
      states = new Uint8Array(from.length + 1);
      known = 0;
      box.style.setProperty("--gutter", String(line).length + 2 + "ch");
      box.style.setProperty("--wide", longest + String(line).length + 5 + "ch");
    }
    const nothing = () => {};
    // Runs the tokenizer up to row i, within a time slice; returns whether it got there.
    function reach(i) {
      if (!colour || known >= i) return true;
      const stop = performance.now() + 25;
      while (known < i) {
        states[known + 1] = colour(text.slice(from[known], to[known]), states[known], nothing);
        known++;
        if ((known & 63) === 0 && performance.now() > stop) return false;
      }
      return true;
    }
    function catchUp() {
      timer = 0;
      let far = 0;
      list.each(i => { if (i > far) far = i; });
      if (!reach(far)) timer = setTimeout(catchUp);
      else list.refresh();
    }
    function firstMatch(pos) {
      let a = 0, b = matches.length;
      while (a < b) { const m = (a + b) >> 1; if (matches[m][1] <= pos) a = m + 1; else b = m; }
      return a;
    }
    function render(i) {
      const a = from[i], s = text.slice(a, to[i]), tokens = [];
      if (colour) {
        if (reach(i)) states[i + 1] = colour(s, states[i], (x, y, c) => { if (y > x) tokens.push([x, y, c]); });
        else if (!timer) timer = setTimeout(catchUp);
      }
      const line = h("span.src");
      // Matches lie over tokens: cut at the edges of both.
      let m = matches.length ? firstMatch(a) : 0;
      function piece(x, y, cls) {
        while (x < y) {
          while (m < matches.length && matches[m][1] - a <= x) m++;
          const hit = matches[m];
          let z = y, on = false;
          if (hit && hit[0] - a < y) {
            if (hit[0] - a > x) z = hit[0] - a;
            else { z = Math.min(y, hit[1] - a); on = true; }
          }
          const part = s.slice(x, z);
          const el = cls || on ? h((on ? "mark" : "span") + (cls ? ".x-" + cls : "") + (on && m === current ? ".now" : ""), null, part) : part;
          line.append(el);
          x = z;
        }
      }
      let x = 0;
      for (const [p, q, c] of tokens) {
        if (p > x) piece(x, p, "");
        if (q > x) piece(Math.max(p, x), q, c);
        x = Math.max(x, q);
      }
      if (x < s.length) piece(x, s.length, "");
      const el = h("div.ln", null, h("span.no", { "data-n": i && number[i - 1] === number[i] ? "" : number[i] }), line);
      if (mark) { el.dataset.line = number[i]; mark(number[i], el); }
      return el;
    }
    const last = (list, x) => { let a = 0, b = list.length; while (a < b) { const m = (a + b) >> 1; if (list[m] <= x) a = m + 1; else b = m; } return a - 1; };
    const rowOf = pos => last(from, pos);
    layout(LONG);
    list = pt2.list(box, { count: from.length, height: ROW, render, all: 600 });
    return {
      el: box,
      draw: list.draw,
      // Number of matches; step moves among them.
      find(q) {
        matches = [];
        current = -1;
        if (q) {
          const re = pt2.matcher(q);
          let m;
          while ((m = re.exec(text)) && matches.length < MATCHES) matches.push([m.index, re.lastIndex]);
          if (matches.length) { this.step(0); return matches.length; }
        }
        list.refresh();
        return matches.length;
      },
      step(d) {
        if (!matches.length) return -1;
        current = d === 0 ? 0 : (current + d + matches.length) % matches.length;
        list.refresh();
        list.show(rowOf(matches[current][0]), true);
        const now = box.querySelector("mark.now");
        if (now) now.scrollIntoView({ block: "nearest", inline: "nearest" });
        return current;
      },
      full: () => matches.length >= MATCHES,
      lines: () => number[number.length - 1] || 0,
      lineText(n) { const i = last(number, n - 1) + 1; return number[i] === n ? text.slice(from[i], to[last(number, n)]) : ""; },
      showLine(n, middle) { list.show(Math.min(last(number, n - 1) + 1, number.length - 1), middle); },
      remark() { list.each((i, el) => { el.className = "ln vrow"; mark(number[i], el); }); },
      wrap(on) {
        const probe = h("span.probe", null, "0".repeat(100));
        box.append(probe);
        const ch = probe.getBoundingClientRect().width / 100 || 8;
        probe.remove();
        layout(on ? Math.max(20, Math.floor(box.clientWidth / ch) - String(from.length).length - 6) : LONG);
        list.refresh(from.length);
      },
    };
  };

  // The code viewer with its bar: find, wrap, pretty or as logged, copy, download. views: {name: function -> element} adds ways to look.
  pt2.viewer = function ({ text, lang, name, views, bytes, tools }) {
    const pane = h("div.pane"), count = h("span.count", { role: "status" });
    let code = null;
    const modes = Object.assign({}, views);
    const nice = lang === "json" && text.length < 32e6 ? pt2.pretty(text) : null;
    if (nice != null && nice !== text.trimEnd()) modes.Pretty = () => view(nice);
    modes[modes.Pretty ? "As logged" : views ? "Text" : "Code"] = () => view(text);
    function view(t) { code = pt2.code(t, lang, name); return code.el; }
    const box = pt2.searchBox("Find in this text", look, { onkeydown: e => { if (e.key === "Enter") { e.preventDefault(); step(e.shiftKey ? -1 : 1); } } });
    let at = -1, found = 0;
    function look() {
      if (!code) choose(Object.keys(modes).pop());
      found = code.find(box.value);
      at = found ? 0 : -1;
      say();
    }
    function step(d) { if (code && found) { at = code.step(d); say(); } }
    function say() { count.textContent = box.value ? (found ? at + 1 + " of " + found + (code.full() ? "+" : "") : "none") : ""; }
    const wrap = h("button", { type: "button", "aria-pressed": "false", title: "Wrap long lines",
      onclick: () => { const on = wrap.getAttribute("aria-pressed") !== "true"; wrap.setAttribute("aria-pressed", on); if (code) code.wrap(on); } }, "Wrap");
    const tabs = Object.keys(modes).length > 1 ? h("span.seg", { role: "group", "aria-label": "View as" }, Object.keys(modes).map(m =>
      h("button", { type: "button", "data-mode": m, onclick: () => choose(m) }, m))) : null;
    function choose(m) {
      code = null;
      pane.replaceChildren(modes[m]());
      if (tabs) for (const b of tabs.children) b.setAttribute("aria-pressed", b.dataset.mode === m);
      wrap.hidden = !code;
      if (code) { if (wrap.getAttribute("aria-pressed") === "true") code.wrap(true); code.draw(); if (box.value) look(); }
    }
    const bar = h("div.bar", null, tabs, h("span.find", null, box,
      h("button", { type: "button", title: "Previous (Shift Enter)", "aria-label": "Previous match", onclick: () => step(-1) }, "↑"),
      h("button", { type: "button", title: "Next (Enter)", "aria-label": "Next match", onclick: () => step(1) }, "↓"), count), h("span.grow"), wrap,
    h("button", { type: "button", onclick: () => pt2.copy(text) }, "Copy"),
    h("button", { type: "button", onclick: () => pt2.save(bytes || text, name, lang) }, "Download"), tools);
    choose(Object.keys(modes)[0]);
    return { el: h("div.viewer", null, bar, pane), find: box, draw: () => code && code.draw() };
  };

  pt2.copy = async function (text) {
    let ok = false;
    try { await navigator.clipboard.writeText(text); ok = true; } catch (e) {
      const t = h("textarea", { style: "position:fixed;opacity:0" });
      t.value = text;
      document.body.append(t);
      t.select();
      try { ok = document.execCommand("copy"); } catch (e2) { /* reported below */ }
      t.remove();
    }
    pt2.say(ok ? "Copied." : "The browser blocked copying.");
  };
  pt2.save = function (data, name, lang) {
    const ext = { py: ".py", cpp: ".cpp", json: ".json" }[lang] || ".txt";
    let file = pt2.baseName(name).replace(/[^\w.+-]+/g, "_").replace(/^\.+/, "").slice(0, 120) || "payload";
    if (!/\.(py|cpp|h|json|txt|log|svg)$/.test(file)) file += ext;
    const url = URL.createObjectURL(new Blob([data], { type: "application/octet-stream" }));
    const a = h("a", { href: url, download: file });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };

  let toastTimer;
  pt2.say = function (text) {
    const t = document.getElementById("toast");
    t.textContent = text;
    t.classList.add("on");
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => t.classList.remove("on"), 1800);
  };

  // A value too large for its cell, in a dialog.
  pt2.dialog = function (title, text, lang, where, more) {
    const d = document.getElementById("dialog"), v = pt2.viewer({ text, lang: lang || "json", name: title });
    d.replaceChildren(h("header", null, h("h2", null, title), where, h("span.grow"),
      h("button.close", { type: "button", "aria-label": "Close", onclick: () => d.close() }, "×")), more || "", v.el);
    d.setAttribute("aria-label", title);
    d.onclick = e => { if (e.target === d) d.close(); };
    d.showModal();
    v.draw();
  };

  // "Working" with a bar and a cancel button: {el, progress(done, all), done()}.
  pt2.progress = function (what, cancel) {
    const bar = h("progress", { max: 1, value: 0, "aria-label": what });
    return {
      el: h("p.working", { role: "status" }, what, bar, cancel && h("button", { type: "button", onclick: cancel }, "Cancel")),
      progress: (i, n) => { bar.max = n; bar.value = i; },
    };
  };
})();
