// Provenance: the graph before Inductor's passes, the graph after them and the generated code, side by side. A line chosen in one
// is marked with the lines that are the same thing in the others. The links are the document's; the texts come from the blocks.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc, views = pt2.views;
  const { empty, head } = pt2.parts;
  const PARTS = ["pre", "post", "code", "aot"];
  const TITLE = { pre: "Graph before passes", post: "Graph after passes", code: "Generated code", aot: "C++ wrapper" };
  const SHORT = { pre: "Before", post: "After", code: "Code", aot: "C++ wrapper" };
  const WAYS = { pre: { post: "preToPost" }, post: { pre: "postToPre", code: "postToCode", aot: "postToAot" }, code: { post: "codeToPost" }, aot: { post: "aotToPost" } };
  const sorted = set => [...set].sort((a, b) => a - b);

  // ---- which artifacts belong to which set ---------------------------------------------------------------------

  for (const L of doc.logs) {
    L.provenance = L.provenance || [];
    L.provenanceOf = new Map();           // artifact -> its set; the graph before passes belongs to several, the first counts
    const nth = new Map();
    L.provenance.forEach((p, i) => {
      p.index = i;
      p.nth = (nth.get(p.compile_id) || 0) + 1;
      nth.set(p.compile_id, p.nth);
      for (const k of [...PARTS, "map", "stacks"]) if (p[k] != null && !L.provenanceOf.has(p[k])) L.provenanceOf.set(p[k], p);
    });
    for (const p of L.provenance) p.brothers = nth.get(p.compile_id);
  }
  const slugOf = (L, p) => { const c = L.compile_ids[p.compile_id]; return c ? c.slug : "none"; };
  const address = (log, p) => pt2.href(log, "provenance", slugOf(doc.logs[log], p), ...(p.nth > 1 ? [p.nth] : []));
  // The link to the view, for an artifact or (null) for a compile id; null when the log knows nothing.
  pt2.provenanceLink = function (log, artifact, compile) {
    const L = doc.logs[log], p = artifact != null ? L.provenanceOf.get(artifact) : L.provenance.find(q => q.compile_id === compile);
    return p ? h("a", { href: address(log, p), title: "Graphs and generated code side by side, linked line by line" }, "Provenance") : null;
  };
  function label(L, p) {
    const c = L.compile_ids[p.compile_id], l = c && pt2.placeOf(L, p.compile_id);
    return (c && !c.none ? pt2.compileLabel(c) : p.aot != null ? "AOTInductor" : "no compile id") + (p.brothers > 1 ? " · " + (p.side ? p.side + " graph" : p.nth + " of " + p.brothers) : "") +
      (l ? " · " + (l.function ? l.function + "()" : pt2.baseName(l.file)) : "");
  }

  // ---- what a line is linked with ------------------------------------------------------------------------------

  // Kernels at a line of code: called there, or else defined there (in the wrapper that there is). calls: where the calls begin.
  function kernelsAt(p, part, line, calls) {
    const K = p.links, all = K[part + "Calls"] || [], out = new Set();
    for (const [k, a, b] of all) if (line >= a && line <= b) { out.add(k); if (calls) calls.push(a); }
    if (!out.size && part === (p.code != null ? "code" : "aot")) (K.kernels || []).forEach(([, a, b], k) => {
      if (!a || line < a || line > b) return;
      out.add(k);
      if (calls) for (const x of all) if (x[0] === k) calls.push(x[1]);
    });
    return out;
  }
  // {pre, post, code, aot: Set of lines; kernels: Set}
  function linksOf(p, part, line) {
    const K = p.links, out = { pre: new Set(), post: new Set(), code: new Set(), aot: new Set(), kernels: new Set() };
    const follow = (from, to, lines) => { const m = K[WAYS[from][to]] || {}; for (const x of lines) for (const y of m[x] || []) out[to].add(y); };
    let starts = [line];
    if (part === "code" || part === "aot") {
      const calls = [];
      out.kernels = kernelsAt(p, part, line, calls);
      if (calls.length) starts = calls;
      for (const x of starts) if (x !== line) out[part].add(x);
      const other = part === "code" ? "aot" : "code";
      for (const c of K[other + "Calls"] || []) if (out.kernels.has(c[0])) out[other].add(c[1]);
    }
    if (part === "post") out.post.add(line);
    else follow(part, "post", starts);
    for (const to of ["pre", "code", "aot"]) if (to !== part && p[to] != null) follow("post", to, out.post);
    for (const q of ["code", "aot"]) if (q !== part) for (const x of out[q]) for (const k of kernelsAt(p, q, x)) out.kernels.add(k);
    if (part === "post") out.post.delete(line);
    return out;
  }
  pt2.kernelsOfLine = (p, line) => linksOf(p, "post", line).kernels;   // of a line of the graph after passes
  // Lines from which there is anything to see.
  function linkedLines(p, part) {
    const K = p.links, out = new Set();
    for (const to in WAYS[part]) for (const x in K[WAYS[part][to]] || {}) out.add(+x);
    if (part === "code" || part === "aot") {
      for (const c of K[part + "Calls"] || []) out.add(c[1]);
      if (part === (p.code != null ? "code" : "aot")) for (const [, a] of K.kernels || []) if (a) out.add(a);
    }
    return out;
  }
  // The program's line that a line of a graph comes from.
  function sourceAt(p, part, line) {
    const rows = p.links[part + "Source"] || [];
    let a = 0, b = rows.length;
    while (a < b) { const m = (a + b) >> 1; if (rows[m][0] <= line) a = m + 1; else b = m; }
    return a && rows[a - 1][1] >= 0 ? rows[a - 1][1] : -1;
  }

  // ---- the view ------------------------------------------------------------------------------------------------

  views.provenance = function (log, arg) {
    const L = doc.logs[log];
    if (!L.provenance.length) return h("div.view", null, head("Provenance"), empty("This log has no provenance. Set INDUCTOR_PROVENANCE=1 to make Inductor record it."));
    const [slug, nth] = String(arg == null ? "" : arg).split("/");
    const p = !arg ? L.provenance[0] : L.provenance.find(q => slugOf(L, q) === slug && q.nth === (+nth || 1));
    if (!p) return h("div.view", null, head("Provenance not found"), empty("Nothing was recorded for " + slug + "."), h("p", null, h("a", { href: pt2.href(log, "provenance") }, "All provenance")));
    return view(log, p);
  };

  function view(log, p) {
    const L = doc.logs[log], K = p.links, c = L.compile_ids[p.compile_id], panes = {}, shown = PARTS.filter(k => p[k] != null);
    let sel = null, stacks = null;
    const status = h("span.said", { role: "status" }), detail = h("div.pdetail", { tabindex: "0", role: "region", "aria-label": "Source and kernels" });
    const select = h("select", { "aria-label": "Compilation", onchange: e => { location.hash = address(log, L.provenance[+e.target.value]); } },
      L.provenance.map((q, i) => h("option", { value: String(i), selected: q === p }, label(L, q))));
    const box = pt2.searchBox("Find a node or kernel", () => {}, { onkeydown: e => { if (e.key === "Enter") { e.preventDefault(); find(e.shiftKey ? -1 : 1); } } });
    const toggles = h("span.seg", { role: "group", "aria-label": "Panes" }, shown.map(k => h("button", { type: "button", "aria-pressed": "true", "data-pane": k, title: "Show or hide", onclick: e => toggle(k, e.currentTarget) }, SHORT[k])));
    const grid = h("div.panes");

    function toggle(k, b) {
      const on = b.getAttribute("aria-pressed") !== "true";
      if (!on && shown.filter(q => !panes[q].el.hidden).length === 1) return;
      b.setAttribute("aria-pressed", String(on));
      panes[k].el.hidden = !on;
      if (on) panes[k].code.draw();
    }
    function pane(k) {
      const a = pt2.artifact(log, p[k]), P = panes[k] = { k, lines: linkedLines(p, k), linked: new Set(), soft: [], list: [], at: 0 };
      const count = h("span.count"), step = d => { if (P.list.length) go(P, (P.at + d + P.list.length) % P.list.length); };
      P.count = count;
      P.step = step;
      P.buttons = h("span.steps", { hidden: true }, h("button", { type: "button", "aria-label": "Previous match", onclick: () => step(-1) }, "↑"), h("button", { type: "button", "aria-label": "Next match", onclick: () => step(1) }, "↓"));
      P.host = h("div.pane", null, h("p.working", { role: "status" }, "Unpacking…"));
      P.el = h("div.pp", { "data-pane": k }, h("header", null, h("h2", null, TITLE[k]), h("a", { href: pt2.href(log, "artifact", p[k]), title: a.name }, "open"), h("span.grow"), count, P.buttons), P.host);
      return P.el;
    }
    function mark(P, line, el) {
      if (P.lines.has(line)) el.classList.add("has");
      if (P.soft.some(([a, b]) => line >= a && line <= b)) el.classList.add("def");
      if (P.linked.has(line)) el.classList.add(P.list[P.at] === line ? "now" : "lnk");
      if (sel && sel.part === P.k && sel.line === line) el.classList.add("sel");
    }
    function go(P, at) {
      P.at = at;
      P.count.textContent = P.list.length > 1 ? at + 1 + " of " + P.list.length : P.list.length ? "line " + P.list[0] : "";
      P.buttons.hidden = P.list.length < 2;
      P.code.remark();
      if (P.list.length) P.code.showLine(P.list[at], true);
    }
    function choose(part, line, near) {
      const links = linksOf(p, part, line), own = panes[part];
      sel = { part, line };
      describe(part, line, links);          // its height decides what the panes show
      for (const k of shown) {
        const P = panes[k];
        P.linked = links[k];
        P.list = k === part ? [] : sorted(links[k]);
        P.soft = [];
        if (k === "code" || k === "aot") {
          for (const x of K[k + "Calls"] || []) if (links.kernels.has(x[0])) P.soft.push([x[1], x[2]]);
          if (k === (p.code != null ? "code" : "aot")) for (const i of links.kernels) if (K.kernels[i][1]) P.soft.push([K.kernels[i][1], K.kernels[i][2]]);
        }
        if (k !== part) go(P, 0);
        else { P.count.textContent = "line " + line; P.buttons.hidden = true; P.code.remark(); }
      }
      own.code.showLine(line, !near);
      const n = k => panes[k].list.length, said = shown.filter(k => k !== part && n(k)).map(k => pt2.plural(n(k), "line") + " in " + (k === "aot" ? "the C++ wrapper" : "the " + TITLE[k].toLowerCase()));
      status.textContent = status.title = "Line " + line + (said.length ? ": " + said.join(", ") : ": no linked lines");
    }
    function describe(part, line, links) {
      const src = new Set(), graphs = part === "pre" || part === "post" ? [[part, [line]]] : [["post", links.post]];
      for (const [g, lines] of graphs) for (const x of lines) { const s = sourceAt(p, g, x); if (s >= 0) src.add(s); }
      const rows = [...src].slice(0, 40).map(i => K.sources[i]).filter(Boolean), kernels = sorted(links.kernels);
      const jump = (k, a, text) => a && panes[k] ? h("button.link", { type: "button", onclick: () => { panes[k].code.showLine(a, true); } }, text) : null;
      const traces = k => { const t = stacks && stacks[K.kernels[k][0]]; return Array.isArray(t) ? t.filter(x => typeof x === "string" && x.trim()) : []; };
      detail.replaceChildren(
        h("section", null, h("h3", null, "Source"), rows.length ? rows.map(([file, ln, fn, code]) => h("div", null, pt2.where({ file, line: ln, function: fn, code }, true))) : h("p.dim", null, "Source line unknown.")),
        h("section", null, h("h3", null, kernels.length === 1 ? "Kernel" : "Kernels", kernels.length > 1 && h("span.n", null, kernels.length)), kernels.length ? pt2.some(kernels, k => {
          const [name, a, b] = K.kernels[k], def = p.code != null ? "code" : "aot", t = traces(k);
          return h("div.kern", null, h("div.bar", null, h("code", null, name),
            ["code", "aot"].map(q => (K[q + "Calls"] || []).filter(x => x[0] === k).slice(0, 8).map(x => jump(q, x[1], "call, line " + x[1]))), jump(def, a, a === b ? "definition, line " + a : "definition, lines " + a + "–" + b)),
          t.length ? h("details", { open: kernels.length < 3 && t.length < 3 }, h("summary", null, pt2.plural(t.length, "Python stack")), t.slice(0, 60).map(x => h("pre", null, x.replace(/^\n+|\s+$/g, "")))) : null);
        }, 12) : h("p.dim", null, "No kernel.")));
    }
    function find(d) {
      const q = box.value.trim().toLowerCase();
      if (!q) return;
      // From the line chosen on, through this pane, the others, and round again.
      const order = shown.filter(k => !panes[k].el.hidden && panes[k].code), from = sel && order.includes(sel.part) ? order.indexOf(sel.part) : 0, all = [];
      for (let i = 0; i < order.length; i++) all.push(order[(from + i * d + order.length * 2) % order.length]);
      all.push(all[0]);
      for (let i = 0; i < all.length; i++) {
        const P = panes[all[i]], n = P.code.lines(), at = i === 0 && sel && sel.part === P.k ? sel.line + d : d > 0 ? 1 : n;
        for (let x = at; x >= 1 && x <= n; x += d) if (P.code.lineText(x).toLowerCase().includes(q)) { choose(P.k, x); return; }
      }
      status.textContent = "No matches.";
    }
    function keys(P, e) {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const n = P.code.lines(), at = sel && sel.part === P.k ? sel.line : 0, page = Math.max(1, Math.floor(P.code.el.clientHeight / 19) - 2);
      let to = { ArrowDown: at + 1, ArrowUp: at ? at - 1 : P.list[P.at] || 1, PageDown: at + page, PageUp: at - page, Home: 1, End: n }[e.key];
      if (!at && e.key === "ArrowDown") to = P.list[P.at] || 1;
      if (e.key === "n" || e.key === "p") { const l = sorted(P.lines); to = e.key === "n" ? l.find(x => x > at) : l.filter(x => x < at).pop(); if (to == null) return; }
      if (e.key === "Enter") { e.preventDefault(); for (const k of shown) if (k !== P.k) panes[k].step(e.shiftKey ? -1 : 1); return; }
      if (to == null) return;
      e.preventDefault();
      choose(P.k, Math.max(1, Math.min(n, to)), e.key !== "n" && e.key !== "p");
    }

    grid.append(...shown.map(pane));
    const el = h("div.prov", null, h("h1.sr", null, "Provenance"), h("div.bar", null, L.provenance.length > 1 ? select : h("b", null, label(L, p)), c && !c.none ? pt2.compileLink(log, c) : null, toggles, box, status), grid, detail);
    detail.append(h("p.dim", null, "Unpacking…"));
    el.ready = (async () => {
      const texts = {};
      try {
        for (const k of shown) texts[k] = await pt2.payloadText(log, p[k]);
      } catch (e) { grid.replaceChildren(h("p.problem", { role: "alert" }, e.message)); throw e; }
      for (const k of shown) {
        const P = panes[k];
        P.code = pt2.code(texts[k], k === "code" ? pt2.guessLang(pt2.artifact(log, p[k]), texts[k]) : k === "aot" ? "cpp" : "py", TITLE[k], (line, row) => mark(P, line, row));
        P.code.el.addEventListener("click", e => { const row = e.target.closest("[data-line]"); if (row && String(getSelection()) === "") choose(k, +row.dataset.line, true); });
        P.code.el.addEventListener("keydown", e => keys(P, e));
        P.host.replaceChildren(P.code.el);
      }
      for (const k of shown) panes[k].code.draw();
      if (p.stacks != null) { try { const s = JSON.parse(await pt2.payloadText(log, p.stacks)); if (s && typeof s === "object") stacks = s; } catch (e) { /* shown as text among the artifacts */ } }
      const start = shown.find(k => k !== "aot" && panes[k].lines.size) || shown.find(k => panes[k].lines.size);
      if (start && Object.keys(K.postToPre || {}).length + Object.keys(K.postToCode || {}).length + Object.keys(K.postToAot || {}).length) choose(start, sorted(panes[start].lines)[0]);
      else {
        const call = ["code", "aot"].map(k => panes[k] && (K[k + "Calls"] || [])[0] && [k, K[k + "Calls"][0][1]]).find(Boolean);
        grid.before(h("p.tip", null, "torch logged no node mapping for this graph, so its lines are not linked; source lines and kernels are still shown."));
        if (call) choose(call[0], call[1]);
        else detail.replaceChildren(h("p.dim", null, "Choose a line."));
      }
      status.textContent = "↑ ↓ move by line, N and P between linked lines, Enter to the next match";
      name(texts.post);
    })();
    // Forward and backward of one compile id: the backward's graph takes tangents.
    async function name(post) {
      const side = t => /\btangents_\d/.test(t.slice(0, 20000)) ? "backward" : "forward";
      for (const q of L.provenance.filter(x => x.compile_id === p.compile_id && x.post != null).slice(0, 12)) {
        if (q.brothers > 1 && !q.side) try { q.side = side(q === p ? post : await pt2.payloadText(log, q.post)); } catch (e) { return; }
        if (select.options[q.index]) select.options[q.index].textContent = label(L, q);
      }
    }
    // For tests: the lines marked, by pane; choosing as a click does.
    pt2.currentProvenance = { set: p, choose, marked: () => Object.fromEntries(shown.map(k => [k, sorted(panes[k].linked)])), selected: () => sel, current: k => panes[k].list[panes[k].at] };
    return el;
  }
})();
