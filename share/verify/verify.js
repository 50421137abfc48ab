/* The page of aoti-verify --html. Data is in #model; all text goes through textContent. */
(function () {
  const { el, count, doc, main } = pt2;
  const words = { equal: "equal", rounding: "rounding only", effect: "indirectly verified", wrong: "WRONG", open: "not verified", operator: "operator" };
  const explained = {
    equal: "Bit for bit what the graph computes from the same inputs.", rounding: "Differs by no more than rounding explains.",
    effect: "Its output is not a value of the graph; everything computed from it is right.", operator: "A torch operator: assumed correct.",
  };
  const wrong = (r) => r.findings.filter((f) => f.what !== "less_exact"), differ = (r) => r.outputs.filter((o) => o.verdict === "differs");
  const found_in = (r) => wrong(r).length || differ(r).length;
  let run = doc.runs.findIndex((r) => r.counts && found_in(r)), chosen = -1;
  if (run < 0) run = doc.runs.findIndex((r) => r.open);
  if (run < 0) run = 0;

  function svg(tag, attrs, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    if (text !== undefined) e.textContent = text;
    return e;
  }
  /* Infinity and NaN come as texts. */
  const num = (v) => v === null || v === undefined ? null : typeof v === "string" ? Number(v) : v;
  function show(v) {
    v = num(v);
    if (v === null) return "";
    if (!isFinite(v)) return isNaN(v) ? "NaN" : v > 0 ? "\u221e" : "\u2212\u221e";
    const a = Math.abs(v);
    return (a && (a >= 1e6 || a < 1e-4) ? v.toExponential(3) : String(+v.toPrecision(3))).replace("-", "\u2212");
  }
  const exact = (v) => typeof v === "string" ? show(v) : String(+v.toPrecision(9)).replace("-", "\u2212");
  const cls = (v) => v === "wrong" ? "bad" : v === "open" ? "open" : v === "operator" ? "" : "ok";
  const tag = (v) => el("span", "tag " + cls(v), words[v] || v);
  const inputs = (r) => r.inputs + (r.run ? ", called again" : "");
  const place = (c) => "call " + c.call + (c.line ? ", " + (c.source || "wrapper.cpp").split("/").pop() + ":" + c.line : "");
  const calls = () => doc.runs[run].calls;
  const found = (c) => doc.runs[run].findings.filter((f) => f.call === c.call);
  const nodesOf = (c) => [...new Set([...(c.node ? [c.node.name] : []), ...found(c).filter((f) => f.node).map((f) => f.node.name), ...c.writes.flatMap((w) => w.nodes)])];

  document.getElementById("names").append(el("b", "", doc.package), " compared with the graph of ", el("b", "", doc.graph));
  document.title = doc.package + " compared with its graph";

  /* ---- the head: the findings and their evidence ---- */

  function finding(f) {
    const p = el("p", "", el("code", "", f.kernel), " (" + place(f) + ") ", f.what === "arguments" ? "was given the wrong inputs for "
      : f.what === "less_exact" ? "is less exact than eager: " : f.what === "turns" ? "ends the loop before its last turn: " : "does not compute ");
    if (f.node) p.append(el("code", "", f.node.name), " (" + f.node.target + ")");
    const box = el("div", "", p);
    if (f.node && f.node.python) box.append(el("p", "dim", el("code", "", f.node.python)));
    if (f.buffer) box.append(el("p", "", el("code", "", f.buffer), ": " + f.differ.toLocaleString("en") + " of " + count(f.elements, "element") + " differ; at " + f.worst +
      " got " + exact(f.got) + ", expected " + exact(f.want)));
    if (f.what === "error" || f.what === "less_exact") box.append(el("p", "", show(f.compiled_ulp) + " ulp from float64 on the same inputs; eager is " + show(f.eager_ulp) + " ulp off."));
    else if (f.right_with_it) box.append(el("p", "dim", "Treating it as the output of " + (f.node ? f.node.name : "the node") + " makes " + count(f.right_with_it, "more tensor") + " match."));
    if (f.or_from !== undefined) box.append(el("p", "dim", "Or one of the kernels from call " + f.or_from + " on: their outputs are not values of the graph."));
    if (f.narrowed_from) box.append(el("p", "dim", "Narrowed by running calls " + f.narrowed_from.join(", ") + " again."));
    if (f.or) box.append(el("p", "dim", "Or " + whichCalls(f.or) + ": what it read from there is not in the graph."));
    return box;
  }
  const whichCalls = (list) => (list.length === 1 ? "call " : "one of the calls ") + list.slice(0, 20).join(", ") + (list.length > 20 ? ", \u2026" : "");
  function output(o) {
    const p = el("p", "", el("code", "", o.name), " differs from the graph");
    if (o.node) p.append(": ", el("code", "", o.node.name), " (" + o.node.target + ")");
    const box = el("div", "", p);
    if (o.node && o.node.python) box.append(el("p", "dim", el("code", "", o.node.python)));
    box.append(el("p", "", o.elements === undefined ? "Its size or type is another." : o.differ.toLocaleString("en") + " of " + count(o.elements, "element") + " differ" +
      (o.worst ? "; at " + o.worst : "") + " got " + exact(o.got) + ", expected " + exact(o.want)));
    if (o.one_of) box.append(el("p", "dim", "Caused by " + whichCalls(o.one_of) + "."));
    return box;
  }
  function verdict() {
    const bad = doc.runs.filter(found_in), counting = bad.filter((r) => r.counts), first = counting[0] || bad[0] || doc.runs.find((r) => r.findings.length);
    const open = doc.runs.some((r) => r.counts && (r.open || r.outputs.some((o) => o.verdict === "open")));
    const kernels = new Set(doc.runs.flatMap((r) => r.calls.filter((c) => c.verdict !== "operator").map((c) => c.kernel))).size;
    const wrongKernels = new Set(counting.flatMap((r) => wrong(r).map((f) => f.kernel))).size;
    const head = counting.length ? ["bad", wrongKernels === 1 ? "One kernel is wrong." : wrongKernels ? "Several kernels are wrong." : "The outputs differ from the graph."]
      : open ? ["open", "Nothing is wrong, but not all could be verified."] : ["ok", "All outputs and kernels are right."];
    const box = el("div", "verdict " + head[0], el("b", "", head[1]), " " + count(kernels, "kernel") + ", " +
      (doc.runs.length === 1 ? "called once." : "in " + doc.runs.length + " calls of the model, including other inputs."));
    if (first) {
      if (first !== doc.runs[0]) box.append(el("p", "dim", (first.counts ? "With inputs: " : "Only with ") + inputs(first) + "."));
      for (const f of first.findings.slice(0, 20)) box.append(finding(f));
      for (const o of differ(first).filter((o) => !o.explained).slice(0, 20)) box.append(output(o));
      if (first.findings.length > 20) box.append(el("p", "dim", "\u2026 and " + (first.findings.length - 20) + " more"));
    }
    if (open) for (const u of doc.runs[0].unknown.slice(0, 10)) box.append(el("p", "amber", u));
    for (const w of doc.weights.slice(0, 5))
      box.append(el("p", "", "The weight ", el("code", "", w.path), " differs in the package: " + w.differ.toLocaleString("en") + " of " + count(w.elements, "element") + "."));
    return box;
  }
  function tiles() {
    const r = doc.runs[run], box = el("div", "tiles");
    for (const [what, n, c] of [["equal", r.equal], ["rounding only", r.rounding], ["indirectly verified", r.effect], ["wrong", r.wrong, "bad"], ["not verified", r.open, "open"],
      ["operators", r.operators]])
      box.append(el("div", n && c ? "tile " + c : "tile", el("div", "what", what), el("div", "n", n.toLocaleString("en"))));
    return box;
  }

  /* ---- the plot: error of each call in ulp, compiled and eager; 0 has a line of its own at the bottom ---- */

  function plot() {
    const W = Math.max(360, Math.min(1200, main.clientWidth)), H = 300, left = 64, right = 14, top = 14, bottom = 40, list = calls(), n = list.length;
    const step = (W - left - right) / Math.max(n, 1), x = (i) => left + (i + .5) * step;
    const errors = (c) => [num(c.compiled_ulp), num(c.eager_ulp)], all = list.flatMap(errors).filter((v) => v > 0 && isFinite(v)).map(Math.log10);
    const lo = Math.floor(all.reduce((a, b) => Math.min(a, b), -1)), hi = Math.ceil(all.reduce((a, b) => Math.max(a, b), 1));
    const y0 = top + 26, y1 = H - bottom - 20, floor = H - bottom - 2;
    const y = (v) => v === 0 ? floor : !isFinite(v) ? top + 4 : y1 - (Math.log10(v) - lo) / (hi - lo) * (y1 - y0);
    const s = svg("svg", { viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": "Error by call in ulp, compiled and eager" });
    list.forEach((c, i) => {
      const hit = svg("rect", { x: left + i * step, y: top - 8, width: step, height: H - top - bottom + 8, class: i === chosen ? "hit chosen" : "hit" });
      hit.append(svg("title", {}, place(c) + "\n" + c.kernel + "\n" + words[c.verdict]));
      hit.addEventListener("click", () => choose(i));
      s.append(hit);
    });
    const line = (yy, label) => s.append(svg("line", { x1: left, x2: W - right, y1: yy, y2: yy, class: "grid" }), svg("text", { x: left - 8, y: yy + 4, "text-anchor": "end" }, label));
    for (let e = lo; e <= hi; e += Math.max(1, Math.ceil((hi - lo) / 6))) line(y(10 ** e), e >= -3 && e <= 3 ? String(+(10 ** e).toPrecision(1)) : "1e" + String(e).replace("-", "\u2212"));
    line(floor, "0");
    const r = step > 8 ? 4 : step > 3 ? 3 : 2, mid = (y0 + y1) / 2;
    list.forEach((c, i) => {
      const [compiled, eager] = errors(c);
      if (c.verdict === "wrong") {
        const q = r + 2;
        s.append(svg("path", { d: "M" + (x(i) - q) + " " + (top + 8 - q) + "l" + 2 * q + " " + 2 * q + "m0 " + -2 * q + "l" + -2 * q + " " + 2 * q, class: "wrong" }));
      } else if (c.verdict === "open") s.append(svg("circle", { cx: x(i), cy: mid, r, class: "open" }));
      else if (c.verdict === "equal") s.append(svg("circle", { cx: x(i), cy: floor, r }));
      if (compiled !== null && eager !== null) {
        s.append(svg("line", { x1: x(i), x2: x(i), y1: y(compiled), y2: y(eager), class: "between" }));
        s.append(svg("circle", { cx: x(i), cy: y(eager), r, class: "eager" }), svg("circle", { cx: x(i), cy: y(compiled), r, class: c.verdict === "wrong" ? "bad" : "" }));
      }
    });
    for (let i = 0; i < n; i += Math.max(1, Math.ceil(n * 45 / W))) s.append(svg("text", { x: x(i), y: H - bottom + 16, "text-anchor": "middle" }, list[i].call));
    s.append(svg("text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle" }, "calls, in the order the model makes them"));
    return s;
  }

  /* ---- the graph beside the kernels: a row for each node, calls without a node where they happen ---- */

  function rows() {
    const of = new Map(), out = [];
    let at = 0;
    const where = new Map(doc.nodes.map((n, i) => [n.name, i]));
    calls().forEach((c, i) => {
      const names = nodesOf(c).filter((n) => where.has(n));
      for (const n of names) of.set(n, [...(of.get(n) || []), i]);
      if (names.length) at = Math.max(at, where.get(names[0]) + 1);
      else of.set(at, [...(of.get(at) || []), i]);
    });
    doc.nodes.forEach((n, i) => {
      for (const c of of.get(i) || []) out.push([null, [c]]);
      out.push([n, of.get(n.name) || []]);
    });
    for (const c of of.get(doc.nodes.length) || []) out.push([null, [c]]);
    return out;
  }
  function map() {
    const body = el("tbody"), all = rows(), rank = ["wrong", "open", "effect", "rounding", "equal", "operator"];
    for (const [n, cs] of all.slice(0, 4000)) {
      const worst = rank.find((v) => cs.some((c) => calls()[c].verdict === v)) || "";
      const left = el("td", "node", n ? el("span", "mono", n.name, " ", el("span", "dim", n.target)) : el("span", "dim", "not a value of the graph"));
      if (n && n.python) left.append(el("div", "dim mono python", n.python));
      const right = el("td", cs.length ? "" : "dim", cs.length ? null : "inside a kernel, or nothing to compute");
      for (const i of cs) right.append(el("div", "", tag(calls()[i].verdict), " ", el("span", "mono", calls()[i].kernel), " ", el("span", "dim", place(calls()[i]))));
      const row = el("tr", worst + (cs.includes(chosen) ? " chosen" : ""), left, right);
      if (cs.length) {
        row.tabIndex = 0;
        row.addEventListener("click", () => choose(cs[0]));
        row.addEventListener("keydown", (e) => { if (e.key === "Enter") choose(cs[0]); });
      }
      body.append(row);
    }
    const box = el("div", "panel", el("table", "", el("thead", "", el("tr", "", el("th", "", "node of the graph"), el("th", "", "computed by"))), body));
    box.id = "map";
    if (all.length > 4000) box.append(el("p", "dim", "\u2026 and " + (all.length - 4000).toLocaleString("en") + " more"));
    return box;
  }

  /* ---- one call ---- */

  function detail() {
    const c = calls()[chosen], box = el("div", "panel");
    box.id = "detail";
    box.append(el("h3", "", c.kernel), el("p", "dim", place(c)), el("p", "", tag(c.verdict), " ", c.why || explained[c.verdict] || ""));
    if (c.compiled_ulp !== undefined) box.append(el("p", "", "Largest error relative to float64: " + show(c.compiled_ulp) + " ulp compiled, " + show(c.eager_ulp) + " ulp eager."));
    if (c.together_from !== undefined) box.append(el("p", "dim", "Checked against the graph together with the calls from " + c.together_from + " on."));
    if (found(c).length) box.append(...found(c).map(finding));
    else if (c.node) box.append(el("p", "", "node ", el("code", "", c.node.name), " (" + c.node.target + ")", c.node.python ? el("div", "dim mono", c.node.python) : null));
    for (const w of c.writes)
      box.append(el("p", "dim", "writes ", el("code", "", w.buffer || "?"), w.nodes.length ? ": " + w.nodes.join(", ") : ": not a value of the graph"));
    return box;
  }

  function choose(i) {
    chosen = i;
    render();
    document.getElementById("detail").scrollIntoView({ block: "nearest" });
  }
  function setRun(i) {
    run = i;
    chosen = Math.max(-1, calls().findIndex((c) => c.verdict === "wrong"));
    render();
  }
  document.addEventListener("keydown", (e) => {
    if (e.target.closest && e.target.closest("select, input")) return;
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by || !calls().length) return;
    e.preventDefault();
    choose(Math.max(0, Math.min(calls().length - 1, chosen + by)));
  });

  function render() {
    const select = el("select");
    select.id = "run";
    select.setAttribute("aria-label", "Which call of the model");
    doc.runs.forEach((r, i) => {
      const o = el("option", "", inputs(r) + (r.findings.length ? ": wrong" : r.open ? ": not all verified" : ""));
      o.value = i;
      o.selected = i === run;
      select.append(o);
    });
    select.addEventListener("change", () => setRun(+select.value));
    const box = el("div", "panel", plot()), dot = (c, text) => el("span", "", el("i", c), text), r = doc.runs[run];
    box.id = "plot";
    box.append(el("div", "legend", dot("", "compiled"), dot("eager", "eager"), r.open ? dot("open", "not verified") : null,
      r.wrong ? el("span", "", el("span", "red", "\u2715 "), "wrong") : null));
    main.replaceChildren(verdict(), el("h2", "", "Inputs", el("span", "grow"), select), tiles(),
      el("h2", "", "Error in ulp, relative to float64", el("small", "", "click, or arrow keys")), box);
    if (chosen >= 0) main.append(el("h2", "", "Call"), detail());
    main.append(el("h2", "", "The graph and the kernels that compute it"), map());
  }

  setRun(run);

  /* What a browser test may call. */
  window.pt2verify = { doc, choose, setRun, calls };
})();
