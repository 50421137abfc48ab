/* The page of aoti-printer --diff. Data is in #model; all text goes through textContent. */
(function () {
  const { el, count, doc, main } = pt2;
  const metrics = [
    ["times_allowed", "error, as a multiple of the tolerance"], ["rms", "relative error (rms)"],
    ["max_rel", "largest relative error"], ["max_abs", "largest absolute error"]];
  let metric = metrics[0][0], chosen = -1, onlyBad = doc.different;

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
    if (v === 0) return "0";
    if (!isFinite(v)) return isNaN(v) ? "NaN" : v > 0 ? "\u221e" : "\u2212\u221e";
    const a = Math.abs(v);
    return (a >= 1e5 || a < 1e-3 ? v.toExponential(2) : String(+v.toPrecision(3))).replace("-", "\u2212");
  }
  const exact = (v) => typeof v === "string" ? show(v) : v === null ? "?" : String(+v.toPrecision(9));
  const isBad = (v) => v.what === "values" || v.what === "sizes" || v.what === "dtype" || (v.what.startsWith("only-") && v.when === "after");
  const badCall = (c) => (c.in !== "both" && !c.elsewhere) || c.values.some((v) => isBad(v) && !(c.elsewhere && v.what.startsWith("only-")));
  const outputs = (c) => c.values.filter((v) => v.when === "after");
  const place = (c) => (many ? c.model + ", " : "") + "run " + c.run + (c.kind === "run" ? "" : ", call " + c.call);
  const title = (c) => c.kind === "run" ? "the model's inputs and outputs" : c.kernel;
  const alone = (c) => (c.in === "a" ? "only in the first" : "only in the second") + (c.elsewhere ? ", fused differently" : "");
  const many = new Set(doc.calls.map((c) => c.model)).size > 1;

  function height(v) { /* of a value under the metric; null when there is none */
    const x = num(v[metric]);
    return x === null || isNaN(x) ? null : x;
  }
  function worst(c) {
    let w = null;
    for (const v of outputs(c)) {
      const h = height(v);
      if (h !== null && (w === null || h > w)) w = h;
    }
    return w;
  }

  /* ---- the head ---- */

  document.getElementById("names").append(el("b", "", doc.a), " compared with ", el("b", "", doc.b));
  document.title = doc.a + " compared with " + doc.b;

  function verdict() {
    if (!doc.different)
      return el("div", "verdict ok", el("b", "", "They agree."), " " + count(doc.compared, "tensor") + " of " + count(doc.both, "call") + " are within tolerance." +
        (doc.calls.some((c) => c.elsewhere) ? " Calls on one side only are fused differently on the other; both end with the same results." : ""));
    const c = doc.calls[doc.first], box = el("div", "verdict bad", el("b", "", "First difference: "), el("code", "", title(c)), ", " + place(c));
    if (c.in !== "both") {
      box.append(el("p", "", "Only " + (c.in === "a" ? doc.a : doc.b) + " has this call."));
      return box;
    }
    for (const v of c.values.filter(isBad).slice(0, 4)) box.append(el("p", "", el("code", "", v.buffer || "?"), " ", sentence(v)));
    box.append(el("p", "dim", c.origin ? "What it reads agrees, what it writes does not: the difference starts here."
      : c.values.some((v) => v.when === "before" && isBad(v)) ? "What it reads already differs." : "What it reads was not saved, or it reads nothing."));
    if (doc.origins > 1) box.append(el("p", "dim", count(doc.origins, "call") + " turned inputs that agree into outputs that differ."));
    return box;
  }
  function sentence(v) {
    if (v.what === "sizes" || v.what === "dtype") return "is " + v.a + " in the first and " + v.b + " in the second";
    if (v.what === "only-a") return "is only in the first";
    if (v.what === "only-b") return "is only in the second";
    if (v.what === "not-saved") return "was not saved";
    if (v.what === "other") return "is something else, of which both make the same";
    if (v.what === "same") return "agrees";
    if (v.rms_allowed && isFinite(num(v.times_allowed))) return "relative error " + show(v.rms) + " (rms); rounding explains " + show(v.rms_allowed);
    let t = count(v.differ, "element") + " of " + v.elements.toLocaleString("en") + (v.differ === 1 ? " differs" : " differ");
    if (v.worst) t += "; at [" + v.worst.index.join(", ") + "] " + exact(v.worst.a) + " became " + exact(v.worst.b);
    return t;
  }
  function tiles() {
    const box = el("div", "tiles");
    const rows = [["calls in both", doc.both], ["only in the first", doc.only_a, doc.different && doc.only_a], ["only in the second", doc.only_b, doc.different && doc.only_b],
      ["tensors compared", doc.compared], ["tensors that differ", doc.differing, doc.differing], ["differences start", doc.origins, doc.origins],
      ["not saved", doc.not_saved]];
    for (const [what, n, bad] of rows)
      if (n || what === "calls in both" || what === "tensors that differ")
        box.append(el("div", bad ? "tile bad" : "tile", el("div", "what", what), el("div", "n", n.toLocaleString("en"))));
    return box;
  }

  /* ---- the plot: error by call, on a scale of powers of ten; 0 has a line of its own at the bottom, infinity at the top ---- */

  function plot() {
    const W = 1200, H = 340, left = 64, right = 14, top = 14, bottom = 40, n = doc.calls.length;
    const step = (W - left - right) / Math.max(n, 1), x = (i) => left + (i + .5) * step;
    const all = doc.calls.flatMap((c) => outputs(c).map(height)).filter((h) => h !== null);
    const finite = all.filter((h) => h > 0 && isFinite(h)).map(Math.log10);
    let lo = finite.length ? Math.floor(finite.reduce((a, b) => Math.min(a, b))) : -1;
    let hi = finite.length ? Math.ceil(finite.reduce((a, b) => Math.max(a, b))) : 1;
    if (metric === "times_allowed") { lo = Math.min(lo, -1); hi = Math.max(hi, 1); }
    if (hi === lo) hi++;
    const y0 = top + 22, y1 = H - bottom - 20;
    const y = (h) => h === 0 ? H - bottom - 2 : !isFinite(h) ? top + 4 : y1 - (Math.log10(h) - lo) / (hi - lo) * (y1 - y0);
    const s = svg("svg", { viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": "Error by call" });
    const line = (yy, label, cls) => {
      s.append(svg("line", { x1: left, x2: W - right, y1: yy, y2: yy, class: cls || "grid" }));
      if (label) s.append(svg("text", { x: left - 8, y: yy + 4, "text-anchor": "end" }, label));
    };
    doc.calls.forEach((c, i) => {
      const hit = svg("rect", { x: left + i * step, y: top - 8, width: step, height: H - top - bottom + 8, class: i === chosen ? "hit chosen" : "hit" });
      hit.append(svg("title", {}, place(c) + "\n" + title(c) + (worst(c) === null ? "" : "\n" + show(worst(c)))));
      hit.addEventListener("click", () => choose(i));
      s.append(hit);
    });
    const every = Math.max(1, Math.ceil((hi - lo) / 8));
    for (let e = lo; e <= hi; e += every)
      line(y(10 ** e), e >= -2 && e <= 3 ? String(+(10 ** e).toPrecision(1)) : "1e" + String(e).replace("-", "\u2212"));
    line(y(0), "0");
    if (all.some((h) => h === Infinity)) line(y(Infinity), "\u221e");
    if (metric === "times_allowed") line(y(1), "", "limit");
    for (let i = 1; i < n; i++)
      if (doc.calls[i].run !== doc.calls[i - 1].run || doc.calls[i].model !== doc.calls[i - 1].model)
        s.append(svg("line", { x1: left + i * step, x2: left + i * step, y1: top - 8, y2: H - bottom, class: "run" }));
    let d = "", last = null;
    doc.calls.forEach((c, i) => { /* a line for each run */
      const w = c.kind === "run" ? null : worst(c);
      if (w === null) return;
      d += (last && last.run === c.run && last.model === c.model ? "L" : "M") + x(i).toFixed(1) + " " + y(w).toFixed(1);
      last = c;
    });
    if (d) s.append(svg("path", { d, class: "trend" }));
    const r = step > 8 ? 4 : step > 3 ? 3 : 2;
    doc.calls.forEach((c, i) => {
      if (c.in !== "both") {
        const m = (top + H - bottom) / 2, q = r + 1;
        s.append(svg("path", { d: "M" + (x(i) - q) + " " + (m - q) + "l" + 2 * q + " " + 2 * q + "m0 " + -2 * q + "l" + -2 * q + " " + 2 * q, class: c.elsewhere ? "only elsewhere" : "only" }));
      }
      for (const v of outputs(c)) {
        const h = height(v);
        if (h !== null) s.append(svg("circle", { cx: x(i).toFixed(1), cy: y(h).toFixed(1), r, class: (isBad(v) ? "bad" : "") + (c.origin && isBad(v) ? " origin" : "") }));
      }
    });
    const labels = Math.max(1, Math.ceil(n / 24));
    for (let i = 0; i < n; i += labels)
      s.append(svg("text", { x: x(i), y: H - bottom + 16, "text-anchor": "middle" }, doc.calls[i].kind === "run" ? "run" : doc.calls[i].call));
    s.append(svg("text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle" }, "calls, in the order the model makes them"));
    return s;
  }

  /* ---- one call ---- */

  function detail() {
    const c = doc.calls[chosen], box = el("div", "panel");
    box.id = "detail";
    box.append(el("h3", "", title(c), c.kernel_b ? el("span", "dim", " compared with " + c.kernel_b) : null));
    const p = el("p", "dim", place(c) + (c.line ? ", wrapper.cpp:" + c.line : "") + (c.nodes ? ", from " + c.nodes : ""));
    box.append(p);
    if (c.in !== "both") {
      box.append(el("p", c.elsewhere ? "dim" : "red", "Only " + (c.in === "a" ? doc.a : doc.b) + " has this call" + (c.elsewhere ? "; the other does the same in other calls." : ".")));
      return box;
    }
    if (c.origin) box.append(el("p", "", "What it reads agrees, what it writes does not: the difference starts here."));
    const body = el("tbody");
    for (const v of c.values)
      body.append(el("tr", "", el("td", "", v.when === "before" ? "reads" : v.role === "model-output" ? "returns" : "writes"),
        el("td", "mono", v.buffer || "?", v.path ? el("div", "dim", v.path) : null), el("td", "mono", v.a || v.b || "", v.a && v.b && v.a !== v.b ? el("div", "red", v.b) : null),
        el("td", isBad(v) ? "red" : "", sentence(v)), el("td", "num", show(v.max_abs)), el("td", "num", show(v.max_rel)), el("td", "num", show(v.rms)),
        el("td", isBad(v) ? "num red" : "num", show(v.times_allowed)), el("td", "num dim", v.rtol === undefined ? "" : show(v.rtol) + " / " + show(v.atol))));
    const head = el("tr");
    for (const [h, cls] of [["", ""], ["tensor", ""], ["type", ""], ["", ""], ["max abs", "num"], ["max rel", "num"], ["rms", "num"], ["\u00d7 allowed", "num"], ["rtol / atol", "num"]])
      head.append(el("th", cls, h));
    const wide = el("div", "", el("table", "", el("thead", "", head), body));
    wide.style.overflowX = "auto";
    box.append(wide);
    return box;
  }

  /* ---- all calls ---- */

  function list() {
    const body = el("tbody"), shown = doc.calls.map((c, i) => [c, i]).filter(([c]) => !onlyBad || badCall(c));
    const head = el("tr");
    for (const [h, cls] of [["run", "num"], ["call", "num"], ["kernel or op", ""], ["source nodes", ""], ["max abs", "num"], ["rms", "num"], ["\u00d7 allowed", "num"], ["", ""]])
      head.append(el("th", cls, h));
    for (const [c, i] of shown.slice(0, 2000)) {
      const max = (key) => outputs(c).map((v) => num(v[key])).filter((v) => v !== null && !isNaN(v)).reduce((a, b) => Math.max(a, b), -1);
      const cell = (key) => { const m = max(key); return el("td", "num", m < 0 ? "" : show(m)); };
      const tag = c.in !== "both" ? el("span", c.elsewhere ? "tag" : "tag bad", alone(c))
        : c.origin ? el("span", "tag bad", "starts here") : badCall(c) ? el("span", "tag bad", "differs") : el("span", "tag ok", "agrees");
      const row = el("tr", i === chosen ? "chosen" : "", el("td", "num", c.run), el("td", "num", c.kind === "run" ? "" : c.call), el("td", "mono", title(c), c.kernel_b ? el("div", "dim", c.kernel_b) : null),
        el("td", "", c.nodes || ""), cell("max_abs"), cell("rms"), cell("times_allowed"), el("td", "", tag));
      row.tabIndex = 0;
      row.addEventListener("click", () => choose(i));
      row.addEventListener("keydown", (e) => { if (e.key === "Enter") choose(i); });
      body.append(row);
    }
    const box = el("div", "panel", el("table", "", el("thead", "", head), body));
    box.id = "list";
    if (shown.length > 2000) box.append(el("p", "dim", "… and " + (shown.length - 2000).toLocaleString("en") + " more"));
    if (!shown.length) box.append(el("p", "dim", "  None."));
    return box;
  }

  function choose(i) {
    chosen = i;
    render();
    document.getElementById("detail").scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", (e) => {
    if (e.target.closest && e.target.closest("select, input")) return;
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by || !doc.calls.length) return;
    e.preventDefault();
    choose(Math.max(0, Math.min(doc.calls.length - 1, chosen + by)));
  });

  function render() {
    const select = el("select");
    select.id = "metric";
    for (const [key, name] of metrics) {
      const o = el("option", "", name);
      o.value = key;
      o.selected = key === metric;
      select.append(o);
    }
    select.setAttribute("aria-label", "What to plot");
    select.addEventListener("change", () => { metric = select.value; render(); });
    const box = el("div", "panel", plot());
    box.id = "plot";
    const dot = (cls, text) => el("span", "", el("i", cls), text);
    box.append(el("div", "legend", dot("", "within tolerance"), doc.differing ? dot("bad", "beyond") : null, doc.origins ? dot("origin", "beyond, although what the call reads agrees") : null,
      metric === "times_allowed" ? dot("dash", "tolerance") : null,
      doc.only_a || doc.only_b ? el("span", "", el("span", doc.different ? "red" : "dim", "\u2715 "), "a call on one side only") : null));
    const check = el("input");
    check.type = "checkbox";
    check.checked = onlyBad;
    check.addEventListener("change", () => { onlyBad = check.checked; render(); });
    main.replaceChildren(verdict(), tiles(), el("h2", "", "Error by call", el("small", "", "click, or arrow keys"), el("span", "grow"), select), box);
    if (chosen >= 0) main.append(el("h2", "", "Call"), detail());
    main.append(el("h2", "", "Calls", el("span", "grow"), el("label", "", check, "only differences")), list());
  }

  if (doc.first !== null) chosen = doc.first;
  render();

  /* What a browser test may call. */
  window.pt2printer = { doc, choose, badCall, metrics: metrics.map((m) => m[0]), setMetric(key) { metric = key; render(); }, setOnlyBad(on) { onlyBad = on; render(); } };
})();
