/* A graph drawn on a canvas: layers from inputs to outputs, kernels as boxes; zoomed, dragged, searched. pt2graph(model, options) is an element.
 * model, in columns: name, op (index into ops), ops, meta, edges [from, to, ...], and maybe tone, kernel (index into kernels, -1: none), kernels.
 * Operands come before their users. options: detail(i) and boxDetail(k) give elements for the panel.
 * Layout (after Sugiyama, Tagawa, Toda 1981): a box is laid out for itself, then boxes and lone nodes are: layers by the longest path,
 * order by barycentres, places by least squares with the order kept (isotonic regression). Long edges have no dummies: they run below. */
"use strict";
const pt2graph = (function () {
  const H = 30, GAP = 14, LAYER = 34, PAD = 14, TITLE = 18, CHAR = 7.2, SWEEPS = 10, COLUMN = 120;
  const ITEM = { f64: 8, f32: 4, f16: 2, bf16: 2, i64: 8, i32: 4, i16: 2, i8: 1, u8: 1, b8: 1, c64: 8, c128: 16 };
  const el = (tag, cls, ...kids) => { const e = document.createElement(tag); if (cls) e.className = cls; e.append(...kids.filter(k => k !== null && k !== undefined && k !== false)); return e; };
  const button = (text, title, fn) => { const b = el("button", "", text); b.type = "button"; b.title = title; b.addEventListener("click", fn); return b; };

  /* Bytes of "f32[8, 16][16, 1]cpu"; NaN: sizes that are symbolic, or no tensor. */
  function bytesOf(meta) {
    const m = /^([a-z]+\d+)\[([\d, ]*)\]/.exec(meta || "");
    return m && ITEM[m[1]] ? (m[2] ? m[2].split(",") : []).reduce((n, d) => n * +d, ITEM[m[1]]) : NaN;
  }
  const size = n => n >= 1 << 30 ? (n / (1 << 30)).toFixed(2) + " GiB" : n >= 1 << 20 ? (n / (1 << 20)).toFixed(1) + " MiB" : n >= 1024 ? (n / 1024).toFixed(1) + " KiB" : n + " B";

  /* ---- layout: things {w, h} with edges between them, later ones read earlier ones -> x (centre), y (top) ---- */

  /* The places nearest to `want` in this order that are far enough apart: pools of neighbours that push each other. */
  function spread(row, things, want) {
    const pools = [];
    let at = 0;
    const base = row.map((k, i) => { const t = things[k]; at += i ? (things[row[i - 1]].w + t.w) / 2 + GAP : 0; return at; });
    row.forEach((k, i) => {
      let p = { from: i, n: 1, sum: want[k] - base[i] };
      while (pools.length && pools[pools.length - 1].sum / pools[pools.length - 1].n >= p.sum / p.n) { const q = pools.pop(); p = { from: q.from, n: q.n + p.n, sum: q.sum + p.sum }; }
      pools.push(p);
    });
    for (const p of pools) for (let i = p.from; i < p.from + p.n; i++) things[row[i]].x = p.sum / p.n + base[i];
  }
  function place(things, edges, fold) {
    const n = things.length, all = things.map(() => []), wait = new Int32Array(n), order = [], rank = new Int32Array(n);
    for (let e = 0; e < edges.length; e += 2) if (edges[e] !== edges[e + 1]) { all[edges[e]].push(edges[e + 1]); wait[edges[e + 1]]++; }
    /* Operands first. Boxes can read each other in a circle (a node computed twice is in one of them): then the first goes on. */
    for (let i = 0; i < n; i++) if (!wait[i]) order.push(i);
    for (let at = 0, next = 0; order.length < n || at < order.length;) {
      if (at === order.length) { while (wait[next] <= 0) next++; wait[next] = 0; order.push(next); }
      const i = order[at++];
      wait[i] = -1;
      for (const k of all[i]) if (wait[k] > 0 && --wait[k] === 0) order.push(k);
    }
    order.forEach((i, at) => { rank[i] = at; });
    const into = things.map(() => []), out = things.map(() => []), layer = new Int32Array(n);
    for (let e = 0; e < edges.length; e += 2) if (rank[edges[e]] < rank[edges[e + 1]]) { into[edges[e + 1]].push(edges[e]); out[edges[e]].push(edges[e + 1]); }
    for (const i of order) for (const k of into[i]) layer[i] = Math.max(layer[i], layer[k] + 1);
    /* What reads nothing stands just above what reads it. */
    for (const i of order) if (!into[i].length && out[i].length) layer[i] = Math.max(0, out[i].reduce((m, k) => Math.min(m, layer[k]), 1e9) - 1);
    const rows = [];
    for (let i = 0; i < n; i++) (rows[layer[i]] = rows[layer[i]] || []).push(i);
    const mean = (k, near) => { let s = 0; for (const j of near) s += things[j].x; return near.length ? s / near.length : things[k].x; };
    const wanted = new Float64Array(n);
    for (const row of rows) { let x = 0; for (const k of row || []) { things[k].x = x + things[k].w / 2; x += things[k].w + GAP; } for (const k of row || []) things[k].x -= x / 2; }
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      const down = sweep % 2 === 0, near = down ? into : out, sort = sweep < SWEEPS - 3;
      for (let r = 0; r < rows.length; r++) {
        const row = rows[down ? r : rows.length - 1 - r];
        if (!row) continue;
        for (const k of row) wanted[k] = sort || near[k].length ? mean(k, near[k]) : things[k].x;
        if (sort) row.sort((a, b) => wanted[a] - wanted[b] || a - b);
        else for (const k of row) wanted[k] = mean(k, into[k].concat(out[k]));
        spread(row, things, wanted);
      }
    }
    let y = 0, left = Infinity, right = -Infinity;
    const start = [];
    for (const row of rows) {
      if (!row) continue;
      start.push([y, row]);
      for (const k of row) { things[k].y = y; left = Math.min(left, things[k].x - things[k].w / 2); right = Math.max(right, things[k].x + things[k].w / 2); }
      y += row.reduce((m, k) => Math.max(m, things[k].h), 0) + LAYER;
    }
    for (const t of things) t.x -= left;
    const w = n ? right - left : 0, h = Math.max(0, y - LAYER), columns = fold && h > 6 * w ? Math.round(Math.sqrt(h / (1.6 * (w + COLUMN)))) : 1;
    /* A graph that is much higher than wide goes on in further columns, as a newspaper does. */
    let column = 0, top = 0, high = 0;
    for (const [at, row] of columns > 1 ? start : []) {
      if (at - top > h / columns && column < columns - 1) { column++; top = at; }
      for (const k of row) { things[k].x += column * (w + COLUMN); things[k].y -= top; high = Math.max(high, things[k].y + things[k].h); }
    }
    return columns > 1 ? { w: columns * (w + COLUMN) - COLUMN, h: high } : { w, h };
  }

  /* Nodes and boxes with absolute places. Nodes of a kernel that has several are inside its box. */
  function layout(m) {
    const n = m.name.length, node = m.name.map((name, i) => ({ w: Math.max(60, 16 + CHAR * Math.min(40, Math.max(name.length, m.ops[m.op[i]].length * 0.82))), h: H }));
    const inside = new Map(), unit = [], of = new Int32Array(n), local = new Int32Array(n);
    for (let i = 0; i < n; i++) { const k = m.kernel ? m.kernel[i] : -1; if (k >= 0) (inside.get(k) || inside.set(k, []).get(k)).push(i); }
    for (const [k, list] of inside) if (list.length < 2) inside.delete(k);
    const first = new Map();
    /* A box stands where its last node does: all that it reads comes before. */
    for (const [k, list] of inside) first.set(list[list.length - 1], k);
    for (let i = 0; i < n; i++) {
      const k = m.kernel && inside.has(m.kernel[i]) ? m.kernel[i] : -1;
      if (k < 0) { of[i] = unit.length; unit.push({ w: node[i].w, h: node[i].h, node: i }); }
      else if (first.get(i) === k) { for (const j of inside.get(k)) of[j] = unit.length; unit.push({ box: k, list: inside.get(k) }); }
    }
    const own = unit.map(() => []), outer = [];
    unit.forEach(u => { if (u.list) u.list.forEach((i, at) => { local[i] = at; }); });
    const lines = (m.edges_before || []).concat(m.edges);
    for (let e = 0; e < lines.length; e += 2) {
      const a = lines[e], b = lines[e + 1];
      if (of[a] !== of[b]) outer.push(of[a], of[b]);
      else if (unit[of[a]].list) own[of[a]].push(local[a], local[b]);
    }
    unit.forEach((u, q) => {
      if (!u.list) return;
      u.things = u.list.map(i => node[i]);
      const s = place(u.things, own[q]);
      u.w = Math.max(s.w, Math.min(300, 12 + CHAR * (m.kernels[u.box] || "").length)) + 2 * PAD;
      u.h = s.h + 2 * PAD + TITLE;
      u.inner = s;
    });
    const all = place(unit, outer, true), boxes = [];
    for (const u of unit) {
      if (!u.list) { node[u.node].x = u.x; node[u.node].y = u.y; continue; }
      const dx = u.x - u.inner.w / 2, dy = u.y + PAD + TITLE;
      for (const t of u.things) { t.x += dx; t.y += dy; }
      boxes.push({ k: u.box, x: u.x - u.w / 2, y: u.y, w: u.w, h: u.h, list: u.list });
    }
    return { node, boxes, w: all.w, h: all.h };
  }

  /* ---- the element ---- */

  function graph(m, options = {}) {
    const t0 = performance.now(), n = m.name.length, still = new Set();
    /* Of the edges before, those that are gone. */
    for (let e = 0; m.edges_before && e < m.edges.length; e += 2) still.add(m.edges[e] * n + m.edges[e + 1]);
    const gone = (m.edges_before || []).filter((x, e, all) => !still.has(all[e & ~1] * n + all[e | 1]));
    m = { ...m, edges_before: gone };
    const L = layout(m), node = L.node;
    const into = m.name.map(() => []), users = m.name.map(() => []);
    for (let e = 0; e < m.edges.length; e += 2) { into[m.edges[e + 1]].push(m.edges[e]); users[m.edges[e]].push(m.edges[e + 1]); }
    const bytes = m.name.map((x, i) => bytesOf(m.meta && m.meta[i])), most = bytes.reduce((a, b) => b > a ? b : a, 0);
    const words = m.name.map((x, i) => (x + " " + m.ops[m.op[i]] + " " + ((m.kernels && m.kernels[m.kernel[i]]) || "") + " " + ((m.meta && m.meta[i]) || "")).toLowerCase());
    const canvas = el("canvas"), panel = el("div", "gpanel"), said = el("span", "gsaid"), find = el("input"), stage = el("div", "gstage", canvas);
    const heat = button("Memory", "Colour nodes by the bytes that they write", () => { heated = !heated; heat.setAttribute("aria-pressed", String(heated)); draw(); });
    find.type = "search"; find.placeholder = "Find a node, operator or kernel"; find.setAttribute("aria-label", find.placeholder);
    said.setAttribute("role", "status"); panel.setAttribute("role", "region"); panel.setAttribute("aria-label", "Node");
    canvas.tabIndex = 0; canvas.setAttribute("role", "img"); canvas.setAttribute("aria-label", "Graph of " + n + " nodes");
    heat.setAttribute("aria-pressed", "false");
    const bar = el("div", "gbar", find, said, el("span", "ggrow"), most > 0 && heat, button("\u2212", "Zoom out (\u2212)", () => zoom(1 / 1.4)), button("+", "Zoom in (+)", () => zoom(1.4)), button("Fit", "Show all (0)", () => fit()));
    const root = el("div", "graph", bar, el("div", "gmain", stage, panel));
    let scale = 1, tx = 0, ty = 0, chosen = -1, box = -1, hits = [], at = -1, heated = false, pending = false, W = 0, Hh = 0, css = {}, hit = new Uint8Array(n);

    function colours() {
      const s = getComputedStyle(document.documentElement), get = (v, or) => s.getPropertyValue(v).trim() || or, dark = document.documentElement.dataset.theme === "dark";
      css = { ink: get("--ink", "#222"), dim: get("--dim", "#777"), line: get("--line", "#ccc"), panel: get("--panel", "#fff"), bg: get("--bg", "#fff"), accent: get("--accent", "#1f66c1"), soft: get("--soft", "#eee"), on: get("--on", "#def"),
        tone: [null, get("--new", dark ? "#5ecb8b" : "#17743f"), get("--gone", dark ? "#f08078" : "#c22f2a"), get("--changed", dark ? "#e3ac4d" : "#8f5600"), get("--changed", dark ? "#e3ac4d" : "#8f5600")], hot: dark ? "227,120,60" : "214,90,20", mark: dark ? "#f2d45c" : "#c99700" };
    }
    const draw = () => { if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; paint(); }); } };
    function paint() {
      const r = window.devicePixelRatio || 1, c = canvas.getContext("2d");
      if (canvas.width !== Math.round(W * r) || canvas.height !== Math.round(Hh * r)) { canvas.width = Math.round(W * r); canvas.height = Math.round(Hh * r); }
      c.setTransform(r, 0, 0, r, 0, 0);
      c.fillStyle = css.bg; c.fillRect(0, 0, W, Hh);
      c.setTransform(r * scale, 0, 0, r * scale, r * tx, r * ty);
      const x0 = -tx / scale, y0 = -ty / scale, x1 = (W - tx) / scale, y1 = (Hh - ty) / scale;
      const seen = b => b.x < x1 && b.x + b.w > x0 && b.y < y1 && b.y + b.h > y0;
      for (const b of L.boxes) {
        if (!seen(b)) continue;
        c.fillStyle = css.panel; c.strokeStyle = b.k === box ? css.accent : css.line; c.lineWidth = (b.k === box ? 2 : 1) / Math.min(1, scale);
        c.beginPath(); c.roundRect(b.x, b.y, b.w, b.h, 8); c.fill(); c.stroke();
        if (scale > 0.35) { c.fillStyle = css.dim; c.font = "11px monospace"; c.textAlign = "left"; c.textBaseline = "top"; c.fillText(cut(m.kernels[b.k] || "", b.w - 20, 6.7), b.x + 10, b.y + 6); }
      }
      edges(c, x0, y0, x1, y1);
      const text = scale > 0.32;
      for (let i = 0; i < n; i++) {
        const t = node[i], x = t.x - t.w / 2;
        if (x > x1 || x + t.w < x0 || t.y > y1 || t.y + t.h < y0) continue;
        const tone = m.tone ? css.tone[m.tone[i]] : null, warm = heated && bytes[i] > 0 ? Math.max(0.06, Math.log1p(bytes[i]) / Math.log1p(most)) ** 3 : 0;
        c.fillStyle = i === chosen ? css.on : into[i].length ? css.soft : css.panel;
        c.beginPath(); c.roundRect(x, t.y, t.w, t.h, 5); c.fill();
        if (warm) { c.fillStyle = "rgba(" + css.hot + "," + (0.75 * warm).toFixed(3) + ")"; c.fill(); }
        c.strokeStyle = hit[i] ? css.mark : i === chosen ? css.accent : tone || css.line;
        c.lineWidth = (hit[i] || i === chosen || tone ? 2.2 : 1) / Math.min(1, scale * 1.2);
        if (m.tone && m.tone[i] > 1 && m.tone[i] !== 3) c.setLineDash([4, 3]);
        c.stroke(); c.setLineDash([]);
        if (!text) continue;
        c.textAlign = "center"; c.textBaseline = "middle"; c.fillStyle = tone || css.ink; c.font = "12px monospace";
        c.fillText(cut(m.name[i], t.w - 8, CHAR), t.x, t.y + 10);
        c.fillStyle = css.dim; c.font = "10px monospace"; c.fillText(cut(m.ops[m.op[i]], t.w - 8, 6), t.x, t.y + 22);
      }
    }
    const cut = (s, w, per) => s.length * per <= w ? s : s.slice(0, Math.max(1, Math.floor(w / per) - 1)) + "\u2026";
    function edges(c, x0, y0, x1, y1) {
      const plain = new Path2D(), strong = new Path2D(), lost = new Path2D();
      const line = (path, a, b) => {
        const s = node[a], t = node[b], ya = s.y + s.h, yb = t.y, d = Math.min(60, Math.max(12, Math.abs(yb - ya) / 2));
        if (Math.max(s.x, t.x) < x0 || Math.min(s.x, t.x) > x1 || Math.max(ya, yb) < y0 || Math.min(ya, yb) > y1) return;
        path.moveTo(s.x, ya);
        if (scale < 0.12) path.lineTo(t.x, yb); else path.bezierCurveTo(s.x, ya + d, t.x, yb - d, t.x, yb);
      };
      for (let e = 0; e < m.edges.length; e += 2) line(m.edges[e] === chosen || m.edges[e + 1] === chosen ? strong : plain, m.edges[e], m.edges[e + 1]);
      for (let e = 0; e < m.edges_before.length; e += 2) line(lost, m.edges_before[e], m.edges_before[e + 1]);
      const stroke = (path, style, w, alpha, dash) => { c.strokeStyle = style; c.lineWidth = w / Math.min(1, scale * 1.3); c.globalAlpha = alpha; c.setLineDash(dash); c.stroke(path); c.globalAlpha = 1; c.setLineDash([]); };
      stroke(plain, css.dim, 1, 0.5, []);
      stroke(lost, css.tone[2], 1.3, 0.9, [5, 4]);
      stroke(strong, css.accent, 2, 1, []);
    }

    /* ---- moving ---- */
    function fit() { scale = Math.min(1.4, 0.96 * Math.min(W / Math.max(1, L.w), Hh / Math.max(1, L.h))); tx = (W - L.w * scale) / 2; ty = (Hh - L.h * scale) / 2; draw(); }
    function zoom(f, x = W / 2, y = Hh / 2) { const s = Math.max(0.004, Math.min(4, scale * f)); tx = x - (x - tx) * s / scale; ty = y - (y - ty) * s / scale; scale = s; draw(); }
    function show(i, s = Math.max(scale, 0.75)) { scale = s; tx = W / 2 - node[i].x * s; ty = Hh / 2 - (node[i].y + H / 2) * s; draw(); }
    function under(x, y) {
      const gx = (x - tx) / scale, gy = (y - ty) / scale;
      for (let i = 0; i < n; i++) { const t = node[i]; if (Math.abs(gx - t.x) <= t.w / 2 && gy >= t.y && gy <= t.y + t.h) return [i, -1]; }
      const b = L.boxes.find(q => gx >= q.x && gx <= q.x + q.w && gy >= q.y && gy <= q.y + q.h);
      return [-1, b ? b.k : -1];
    }
    const down = new Map();
    let moved = 0;
    canvas.addEventListener("pointerdown", e => { down.set(e.pointerId, [e.offsetX, e.offsetY]); moved = 0; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", e => {
      const p = down.get(e.pointerId);
      if (!p) { const [i, k] = under(e.offsetX, e.offsetY); canvas.title = i >= 0 ? m.name[i] + ": " + m.ops[m.op[i]] + (m.meta && m.meta[i] ? "\n" + m.meta[i] : "") : k >= 0 ? m.kernels[k] : ""; return; }
      const other = [...down].find(([id]) => id !== e.pointerId);
      if (other) { const d = (q, r) => Math.hypot(q[0] - r[0], q[1] - r[1]) || 1, now = [e.offsetX, e.offsetY]; zoom(d(now, other[1]) / d(p, other[1]), other[1][0], other[1][1]); }
      else { tx += e.offsetX - p[0]; ty += e.offsetY - p[1]; }
      moved += Math.abs(e.offsetX - p[0]) + Math.abs(e.offsetY - p[1]);
      down.set(e.pointerId, [e.offsetX, e.offsetY]);
      draw();
    });
    canvas.addEventListener("pointerup", e => { if (down.delete(e.pointerId) && moved < 4) choose(...under(e.offsetX, e.offsetY)); });
    canvas.addEventListener("pointercancel", e => down.delete(e.pointerId));
    canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(-Math.max(-200, Math.min(200, e.deltaY)) / 300), e.offsetX, e.offsetY); }, { passive: false });
    canvas.addEventListener("keydown", e => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
      if (step) { tx += step[0]; ty += step[1]; draw(); }
      else if (e.key === "+" || e.key === "=") zoom(1.4);
      else if (e.key === "-") zoom(1 / 1.4);
      else if (e.key === "0") fit();
      else return;
      e.preventDefault();
    });

    /* ---- choosing, searching ---- */
    function choose(i, k = -1, there) {
      chosen = i; box = i >= 0 && m.kernel ? m.kernel[i] : k;
      panel.replaceChildren();
      const jump = list => el("div", "glist", ...list.slice(0, 40).map(j => button(m.name[j], m.ops[m.op[j]], () => choose(j, -1, true))), list.length > 40 && el("span", "dim", "and " + (list.length - 40) + " more"));
      const part = (title, ...kids) => panel.append(el("h3", "", title), ...kids.filter(Boolean));
      if (i >= 0) {
        panel.append(el("h2", "", m.name[i]), el("code", "", m.ops[m.op[i]]));
        if (m.meta && m.meta[i]) part("Value", el("code", "", m.meta[i]), bytes[i] >= 0 ? el("div", "dim", size(bytes[i])) : null);
        if (options.detail) panel.append(...[options.detail(i)].flat().filter(Boolean));
        if (into[i].length) part("Reads", jump([...new Set(into[i])]));
        if (users[i].length) part("Read by", jump([...new Set(users[i])]));
      } else if (k >= 0) panel.append(el("h2", "", m.kernels[k]));
      if (box >= 0) {
        const list = [], reads = new Set(), writes = new Set();
        for (let j = 0; j < n; j++) if (m.kernel[j] === box) { list.push(j); for (const x of into[j]) if (m.kernel[x] !== box) reads.add(x); if (users[j].some(x => m.kernel[x] !== box)) writes.add(j); }
        const sum = set => [...set].reduce((a, j) => a + bytes[j], 0), r = sum(reads), w = sum(writes);
        part("Kernel", i >= 0 ? button(m.kernels[box], "Show the kernel", () => choose(-1, box)) : null, el("div", "dim", list.length + (list.length === 1 ? " node" : " nodes") + (r + w >= 0 ? "; reads " + size(r) + ", writes " + size(w) : "")));
        if (options.boxDetail) panel.append(...[options.boxDetail(box)].flat().filter(Boolean));
        if (i < 0) part("Computes", jump(list));
      }
      panel.hidden = i < 0 && box < 0;
      resize();
      if (there && i >= 0) show(i);
      draw();
    }
    function search() {
      const q = find.value.trim().toLowerCase();
      hits = []; at = -1; hit = new Uint8Array(n);
      if (q) for (let i = 0; i < n; i++) if (words[i].includes(q)) { hits.push(i); hit[i] = 1; }
      const exact = hits.findIndex(i => m.name[i].toLowerCase() === q);
      said.textContent = q ? hits.length + " of " + n : "";
      if (hits.length && q.length > 1) step(0, exact); else draw();
      return hits.length;
    }
    function step(d, exact = -1) {
      if (!hits.length) return;
      at = d ? (at + d + hits.length) % hits.length : Math.max(0, exact);
      said.textContent = at + 1 + " of " + hits.length;
      choose(hits[at], -1, true);
    }
    find.addEventListener("input", search);
    find.addEventListener("keydown", e => { if (e.key === "Enter") { e.preventDefault(); step(e.shiftKey ? -1 : 1); } });

    /* The first size fits the graph; a large one is opened where something changed, or at its top, so that there is something to read. */
    let opened = false;
    function resize() {
      const w = stage.clientWidth, h = stage.clientHeight;
      if (!w || !h) return;
      W = w; Hh = h;
      if (!opened) {
        opened = true;
        fit();
        const first = m.tone ? m.tone.findIndex(t => t && t < 4) : -1;
        if (scale < 0.3) show(Math.max(0, first), 0.7);
        root.opened = performance.now() - t0;
      }
      draw();
    }
    panel.hidden = true;
    colours();
    new ResizeObserver(resize).observe(stage);
    new MutationObserver(() => { colours(); draw(); }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    root.graph = { layout: L, search: q => { find.value = q; return search(); }, choose, show, zoom, fit, state: () => ({ scale, tx, ty, chosen, box, hits: hits.length }), paint, setHeat: on => { if (heated !== on) heat.click(); } };
    return root;
  }
  graph.layout = layout;
  graph.size = size;
  return graph;
})();
