/* The page of aoti-printer --memory: for each graph the bytes of its buffers after each call, and the buffers at the peak. */
(function () {
  "use strict";
  const { el, count, doc, main } = pt2;
  document.getElementById("names").textContent = "Memory of " + count(doc.graphs.length, "graph");
  document.title = "Memory of buffers, graph by graph";
  const SVG = "http://www.w3.org/2000/svg";
  function svg(name, attributes) {
    const e = document.createElementNS(SVG, name);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    return e;
  }
  const size = (n) => n < 1000 ? n + " B" : n < 1e6 ? (n / 1e3).toPrecision(3) + " KB" : n < 1e9 ? (n / 1e6).toPrecision(3) + " MB" : (n / 1e9).toPrecision(3) + " GB";
  function title(c) { return c.kernel + (c.line ? ":" + c.line : "") + (c.nodes ? " (" + c.nodes + ")" : ""); }

  function curve(g) {
    const W = 900, H = 180, L = 76, n = Math.max(g.curve.length, 1), most = Math.max(g.reached, 1);
    const box = el("div", "panel"), s = svg("svg", { viewBox: "0 0 " + W + " " + (H + 24), role: "img", "aria-label": "live bytes, by call" });
    box.id = "plot";
    const x = (i) => L + (W - L - 8) * i / n, y = (b) => H - (H - 14) * b / most;
    for (const part of [0, 0.5, 1]) {
      const t = svg("text", { x: L - 6, y: y(most * part) + 4, "text-anchor": "end" });
      t.textContent = size(Math.round(most * part));
      s.append(svg("line", { x1: L, x2: W - 8, y1: y(most * part), y2: y(most * part), class: "grid" }), t);
    }
    g.curve.forEach((c, i) => {
      const r = svg("rect", { x: x(i), y: y(c.bytes), width: Math.max((W - L - 8) / n - (n < 200 ? 1 : 0), 0.5), height: H - y(c.bytes),
        fill: i === g.peak_at ? "var(--bad)" : "var(--accent)" }), t = svg("title", {});
      t.textContent = "call " + c.call + ", " + size(c.bytes) + ": " + title(c);
      r.append(t);
      s.append(r);
    });
    const t = svg("text", { x: L, y: H + 16 });
    t.textContent = "calls 0 to " + (n - 1) + " of run " + g.run + "; red: the peak, call " + g.peak_at;
    s.append(t);
    box.append(s);
    return box;
  }

  function table(g) {
    const scroll = el("div", "scroll"), t = el("table", ""), head = el("tr", "");
    for (const h of ["bytes", "share", "buffer", "calls", "allocated by", "Python"]) head.append(el("th", "", h));
    t.append(head);
    for (const b of g.buffers) {
      const row = el("tr", "");
      row.append(el("td", "num", size(b.bytes)), el("td", "num", (100 * b.bytes / Math.max(g.reached, 1)).toFixed(1) + "%"), el("td", "", b.names),
        el("td", "", b.born + ".." + Math.min(b.dies, g.curve.length - 1)), el("td", "", b.kernel ? title(b) : ""), el("td", "", (b.python || [])[0] || ""));
      t.append(row);
    }
    scroll.append(t);
    return scroll;
  }

  for (const g of doc.graphs) {
    main.append(el("h2", "", g.model));
    main.append(el("p", "dim", size(g.reached) + " of buffers at the peak" + (g.planned === null ? "; some sizes are unknown" : "; planned " + size(g.planned)) +
      ". " + count(g.runs, "run") + "."));
    main.append(curve(g), table(g));
  }
  if (!doc.graphs.length) main.append(el("p", "dim", "No calls of a graph were recorded."));
})();
