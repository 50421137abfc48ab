// A graph of the log as a drawing (page/graph.js): read from its FX code; kernels are boxes, where the log tells which kernel computes
// which node: node mappings (INDUCTOR_PROVENANCE=1), or the graph fragments that Inductor writes above Triton kernels.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc, views = pt2.views;
  const { empty, head } = pt2.parts;

  // FX code as columns. Of nested classes only the outermost is drawn: a subgraph is one node.
  function parse(text) {
    const m = { name: [], op: [], ops: [], meta: [], edges: [], line: [], source: [] }, ids = new Map(), ops = new Map(), lines = text.split("\n");
    const word = /"[^"]*"|'[^']*'|(?<![.\w])([A-Za-z_]\w*)\b(?!\s*=[^=])/g;
    const add = (name, op, meta, line, source) => {
      if (!ops.has(op)) { ops.set(op, ops.size); m.ops.push(op); }
      ids.set(name, m.name.length);
      m.name.push(name); m.op.push(ops.get(op)); m.meta.push(meta || ""); m.line.push(line); m.source.push(source || "");
    };
    const reads = (code, to) => { for (const w of code.matchAll(word)) if (w[1] && ids.has(w[1]) && ids.get(w[1]) < to) m.edges.push(ids.get(w[1]), to); };
    const target = code => {
      let q = /^([A-Za-z_][\w.]*)\(/.exec(code);
      if (q) { const dot = q[1].indexOf("."), of = dot > 0 ? q[1].slice(0, dot) : ""; return ids.has(of) || of === "self" ? q[1].slice(dot + 1) : q[1].replace(/^torch\.ops\./, ""); }
      if (/^self\./.test(code)) return "get_attr";
      if ((q = /^\w+\[/.exec(code))) return "getitem";
      if ((q = /^-?[\w.]+ ([-+*/@%&|^<>=!]+) /.exec(code))) return q[1];
      return (q = /^([\w.]+)/.exec(code)) ? q[1].slice(0, 40) : "?";
    };
    let state = 0, source = "";
    for (let i = 0; i < lines.length; i++) {
      const s = lines[i];
      if (state === 0 && /^    def forward\(/.test(s)) state = 1;
      if (state === 1) {
        for (const p of s.replace(/^    def forward\(/, "").replace(/ +#.*$/, "").replace(/\)( -> .*)?:\s*$/, "").matchAll(/(\w+)(?:\s*:\s*(?:"([^"]*)"|[\w.]+))?\s*(?:,|$)/g)) if (p[1] !== "self") add(p[1], "placeholder", p[2], i + 1);
        if (/\)( -> .*)?:\s*$/.test(s)) state = 2;
        continue;
      }
      if (state !== 2) continue;
      let q = /^ +# File: (.*)$/.exec(s);
      if (q) { source = q[1]; continue; }
      if ((q = /^ {8}([A-Za-z_]\w*)(?:: "([^"]*)")? = (.*?)(?:;  (?:\w+ = )+None)?\s*$/.exec(s))) {
        if (q[3] === "None") continue;
        if (/^\w+$/.test(q[3]) && ids.has(q[3])) { const k = ids.get(q[3]); ids.set(q[1], k); m.name[k] = q[1]; continue; } // l_x_ = L_x_
        add(q[1], target(q[3]), q[2], i + 1, source);
        reads(q[3], m.name.length - 1);
      } else if (/^ {8}return\b/.test(s)) {
        let t = s.replace(/^ *return/, "");
        const line = i + 1;
        if (/\($/.test(t)) while (i + 1 < lines.length && !/^ {8}\)/.test(lines[i + 1])) t += " " + lines[++i].replace(/ +#.*$/, "");
        add("output", "output", "", line);
        reads(t, m.name.length - 1);
        break;
      }
    }
    return m;
  }

  // The code that was made of a graph: the first of its compilation after it.
  function codeOf(L, log, i) {
    const own = L.compile_ids[L.artifacts.compile_id ? L.artifacts.compile_id[i] : pt2.artifact(log, i).compile];
    return own ? own.owns.find(k => k > i && pt2.artifact(log, k).key === "inductor_output_code") : undefined;
  }
  function kernelsFrom(m, p) {
    const extern = k => !/fused|^triton_|^cpp_/.test(p.links.kernels[k][0]);
    m.kernels = p.links.kernels.map(k => k[0].replace(/:\d+$/, ""));
    m.kernel = m.line.map(line => { const k = [...pt2.kernelsOfLine(p, line)].sort((a, b) => extern(b) - extern(a) || a - b); return k.length ? k[0] : -1; });
    m.at = p.links.kernels.map(k => [k[1], k[2]]);
  }
  function kernelsFromCode(m, code) {
    const ids = new Map(m.name.map((x, i) => [x, i])), lines = code.split("\n");
    let names = null;
    m.kernel = m.name.map(() => -1); m.kernels = []; m.at = [];
    lines.forEach((s, i) => {
      let q;
      if (/^# Graph fragment:/.test(s)) names = [];
      else if (names && (q = /^#   %(\w+) : .*= call_\w+\[/.exec(s))) names.push(q[1]);
      else if (names && (q = /^(\w+) = async_compile\.\w+\('/.exec(s))) {
        for (const x of names) if (ids.has(x) && m.kernel[ids.get(x)] < 0) m.kernel[ids.get(x)] = m.kernels.length;
        let end = i;
        while (end + 1 < lines.length && !/^'''/.test(lines[end])) end++;
        m.kernels.push(q[1]); m.at.push([i + 1, end + 1]);
        names = null;
      } else if (names && !/^#/.test(s)) names = null;
    });
    if (!m.kernels.length) delete m.kernel;
  }

  // Nodes are counted of graphs that are records of their own; those among the artifacts have names.
  pt2.isGraph = (log, i) => doc.logs[log].artifacts.nodes[i] > 1 || /(^|_)graph(_\d+)?(\.txt)?$/.test(pt2.artifactName(log, i));
  pt2.graphLink = (log, i, text) => pt2.isGraph(log, i) ? h("a", { href: pt2.href(log, "graph", i), title: "The graph as a drawing" }, text || "Drawing") : null;
  // Of a compilation: the last graph that Inductor got, and each before it.
  pt2.graphLinks = function (log, c) {
    const list = c.owns.filter(k => pt2.isGraph(log, k));
    return list.length ? h("p.tip", null, "Drawings: ", list.slice(0, 24).map((k, n) => [n ? ", " : "", pt2.graphLink(log, k, pt2.artifactName(log, k).replace(/\.txt$/, ""))])) : null;
  };

  views.graph = function (log, arg) {
    const [number, wanted] = String(arg == null ? "" : arg).split("/"), i = +number, L = doc.logs[log];
    if (!/^\d+$/.test(number) || !pt2.isGraph(log, i)) return h("div.view", null, head("Graph not found"), empty("This log has no such graph."));
    const a = pt2.artifact(log, i), c = L.compile_ids[a.compile], host = h("div", null, h("p.working", { role: "status" }, "Unpacking…")), note = h("p.note");
    const el = h("div.view.drawingview", null, h("div.bar", null, h("b", null, a.name.replace(/\.txt$/, "")), c && !c.none ? pt2.compileLink(log, c) : null, h("a", { href: pt2.href(log, "artifact", i) }, "Text"), pt2.provenanceLink(log, i)), note, host);
    el.ready = (async () => {
      const m = parse(await pt2.payloadText(log, i)), p = L.provenanceOf.get(i), own = p && p.post === i ? p : null;
      const codeAt = own ? (own.code != null ? own.code : own.aot) : codeOf(L, log, i), after = /post_grad/.test(a.name) || a.key === "inductor_post_grad_graph";
      let code = null;
      if (own) kernelsFrom(m, own);
      else if (after && codeAt != null) { code = await pt2.payloadText(log, codeAt); kernelsFromCode(m, code); }
      if (!m.kernel && after) note.textContent = "Which kernel computes which node is not in this log: INDUCTOR_PROVENANCE=1 records it. Times of kernels are in a profile, not in a trace.";
      else note.textContent = m.kernel ? "A box is a kernel. Times of kernels are in a profile, not in a trace." : "";
      const detail = n => {
        const q = /^(.+):(\d+) in (.+?), code: (.*)$/.exec(m.source[n]) || /^(.+):(\d+) in (.+)$/.exec(m.source[n]);
        return [q ? h("h3", null, "Source") : null, q ? pt2.where({ file: q[1], line: +q[2], function: q[3], code: q[4] || null }, true) : null, h("div.dim", null, "line " + m.line[n] + " of ", h("a", { href: pt2.href(log, "artifact", i) }, "the text"))];
      };
      const boxDetail = k => {
        const [from, to] = m.at[k], pre = h("pre"), out = h("div", null, h("div.dim", null, from ? "lines " + from + "\u2013" + to + " of " : "called in ", codeAt != null ? h("a", { href: pt2.href(log, "artifact", codeAt) }, "the code") : "the code"), from ? pre : null);
        if (from && codeAt != null) (async () => { code = code || await pt2.payloadText(log, codeAt); pre.textContent = code.split("\n").slice(from - 1, Math.min(to, from + 200)).join("\n"); })();
        return out;
      };
      if (!m.name.length) { host.replaceChildren(empty("This text could not be read as a graph.")); return; }
      const g = pt2graph(m, { detail, boxDetail });
      host.replaceChildren(g);
      el.graph = pt2.currentGraph = g;
      g.model = m;
      if (wanted && m.name.includes(wanted)) requestAnimationFrame(() => requestAnimationFrame(() => g.graph.choose(m.name.indexOf(wanted), -1, true)));
    })();
    return el;
  };
  pt2.parseGraph = parse;
})();
