/* The page of fxexplain --html. Data is in #model (docs/EXPLAIN.md); all text goes through textContent. */
(function () {
  const { el, count, doc, main } = pt2;
  const SHOWN = 30;
  const sum = doc.summary;

  function svg(tag, attrs, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    for (const c of children) e.append(c instanceof Node ? c : String(c));
    return e;
  }
  const seconds = (s) => s === null || s === undefined ? "" : s >= 120 ? Math.floor(s / 60) + " min " + Math.round(s % 60) + " s"
    : s >= 10 ? s.toFixed(1) + " s" : s >= 0.01 ? s.toFixed(2) + " s" : (1000 * s).toFixed(1) + " ms";
  /* site-packages/torch/x.py is torch/x.py; of long ones the last three names. */
  function short(file) {
    const m = /(?:site|dist)-packages\/(.*)$/.exec(file);
    if (m) return m[1];
    const parts = file.split("/");
    return file.length > 48 && parts.length > 4 ? "\u2026/" + parts.slice(-3).join("/") : file;
  }
  function where(l, bare) {
    if (!l) return el("span", "where dim", "place not known");
    const w = el("span", "where", short(l.file) + (l.line ? ":" + l.line : ""), l.function ? el("span", "fn", " in " + l.function) : null);
    w.title = l.file;
    return !bare && l.code ? el("div", "", w, el("code", "src", l.code)) : w;
  }
  function copyable(text) {
    const pre = el("pre", "", text);
    if (navigator.clipboard && window.isSecureContext) {
      const b = el("button", "copy", "Copy");
      b.type = "button";
      b.addEventListener("click", () => navigator.clipboard.writeText(text).then(() => { b.textContent = "Copied"; }, () => {}));
      pre.prepend(b);
    }
    return pre;
  }
  function bar(part, title) {
    const i = el("i");
    i.style.width = Math.max(0, Math.min(1, part)) * 100 + "%";
    const b = el("span", "bar", i);
    if (title) b.title = title;
    return b;
  }
  /* A list that is long is shown in part, and on demand. */
  function atMost(rows, make, box, most = SHOWN) {
    const add = (from, to) => rows.slice(from, to).forEach((r, i) => box.append(make(r, from + i)));
    add(0, most);
    if (rows.length <= most) return box;
    const b = el("button", "more", "Show all " + rows.length.toLocaleString("en"));
    b.type = "button";
    b.addEventListener("click", () => { b.remove(); add(most, rows.length); });
    const outer = el("div", "", box.tagName === "TBODY" ? null : box);
    outer.append(b);
    outer.addMore = b;
    return outer;
  }
  function table(heads, rows, make) {
    const head = el("tr");
    for (const [text, cls] of heads) head.append(el("th", cls || "", text));
    const body = el("tbody"), more = atMost(rows, make, body);
    const panel = el("div", "panel", el("table", "", el("thead", "", head), body));
    return more === body ? panel : el("div", "", panel, more);
  }
  function section(id, title, note, ...children) {
    const h = el("h2", "", title, note ? el("small", "", note) : null);
    h.id = id;
    const a = el("a", "", title);
    a.href = "#" + id;
    document.getElementById("jump").append(a);
    main.append(h, ...children);
  }

  /* A compilation's name in a plot: torch_dynamo_resume_in_f_at_5 is what follows line 5 of f. */
  const tag = (c) => doc.inputs.length < 2 ? "" : (doc.inputs[c.input].rank !== null ? "rank " + doc.inputs[c.input].rank : "#" + (c.input + 1)) + "  ";
  const called = (c) => c.resume_of ? "rest of " + c.resume_of + " from " + c.resume_line : c.location && c.location.function || "";
  const fit = (text) => text.length > 38 ? text.slice(0, 37) + "\u2026" : text;

  /* ---- verdict and numbers ---- */

  function verdict() {
    const v = doc.verdict && doc.verdict.component ? doc.verdict : null;
    const failed = v || doc.failures.some((f) => !f.restart && !f.caught);
    const worst = doc.findings[0];
    const box = el("div", failed ? "verdict bad" : doc.findings.some((f) => f.level !== "note") ? "verdict warning" : "verdict");
    if (v) {
      const f = v.failure === null ? null : doc.failures[v.failure];
      box.append(el("h1", "", (v.sure === "proven" ? "Failed in " : v.sure === "likely" ? "Failed, probably in " : "Failed, perhaps in ") + v.title));
      if (f) {
        const text = f.reason || "", first = text.split(/\n\s*\n/)[0].split("\n").slice(0, 5).join("\n");
        box.append(el("div", "error", (f.type ? f.type + ": " : f.signal ? "signal " + f.signal + ": " : "") + first.slice(0, 1000)));
        for (const e of doc.compiler_errors.filter((c) => c.compile === f.compile && /error/.test(c.severity || "")).slice(0, 3))
          box.append(el("div", "error", (e.at ? short(e.at.file).split("/").pop() + ":" + e.at.line + ": " : "") + e.message, e.at && e.at.code ? el("code", "src", e.at.code) : null));
        if (text.length > first.length) box.append(el("details", "", el("summary", "dim", "The whole message"), el("pre", "", text)));
        if (f.location) box.append(el("p", "", where(f.location)));
      }
      for (const line of v.evidence) box.append(el("div", "quote", line));
      if (v.experiment.length) box.append(el("h3", "", "What would prove it"), ...v.experiment.map((t) => el("pre", "", t)));
      if (v.minify) box.append(el("h3", "", "The smallest program that fails"), copyable(v.minify));
    } else if (failed) {
      box.append(el("h1", "", count(sum.failures, "compilation") + " failed"));
    } else {
      box.append(el("h1", "", !sum.compiles && !doc.findings.length ? "Nothing known in here" : worst && worst.level !== "note" ? "Nothing failed, but " + count(sum.warnings + sum.errors, "thing") + " to look at" : "Nothing failed"));
    }
    if (worst && !v && worst.level !== "note")
      box.append(el("p", "", "First: ", el("b", "", worst.title), worst.location ? " at " : "", worst.location ? where(worst.location, true) : null, worst.cost ? el("span", "dim", ", " + worst.cost) : null));
    return box;
  }
  function tiles() {
    const box = el("div", "tiles"), cache = Object.values(sum.cache);
    const hits = cache.reduce((n, c) => n + c.hit, 0), all = cache.reduce((n, c) => n + c.hit + c.miss + c.bypass, 0);
    const tile = (what, n, sub, level) => box.append(el("div", "tile " + (level || ""), el("div", "what", what), el("div", "n", n), el("div", "sub", sub || "")));
    if (sum.compile_seconds !== null) tile("compiling", seconds(sum.compile_seconds), sum.compiles ? count(sum.compiles, "compilation") : "");
    tile("graph breaks", sum.graph_breaks, sum.inferred_graph_breaks ? sum.inferred_graph_breaks + " more inferred" : count(sum.graphs, "graph"), sum.graph_breaks ? "warning" : "");
    tile("recompiles", sum.recompiles, sum.recompile_limits ? count(sum.recompile_limits, "limit") + " reached" : "of " + count(sum.frames, "frame"), sum.recompile_limits ? "error" : sum.recompiles ? "warning" : "");
    const caught = doc.failures.filter((f) => f.caught && !f.restart).length;
    tile("failures", sum.failures, [caught ? caught + " caught" : "", sum.restarts ? count(sum.restarts, "restart") : ""].filter(Boolean).join(", "), sum.failures > caught ? "error" : "");
    if (sum.graph_ops) tile("operations", sum.graph_ops.toLocaleString("en"), sum.guards ? count(sum.guards, "guard") : "");
    if (all) tile("cache hits", hits + " of " + all, cache.reduce((n, c) => n + c.bypass, 0) + " bypassed");
    if (sum.cudagraph_skips) tile("CUDA graphs skipped", sum.cudagraph_skips, "", "warning");
    if (sum.specializations) tile("specializations", sum.specializations, count(doc.symbols.length, "symbol"));
    return box;
  }

  /* ---- findings ---- */

  function finding(f, i) {
    const box = el("details", "finding " + f.level), total = sum.compile_seconds || 0;
    const cost = el("div", "cost", f.seconds !== null ? seconds(f.seconds) : f.count > 1 ? f.count + " times" : "");
    if (f.seconds !== null && total) cost.append(bar(f.seconds / total, "of " + seconds(total) + " of compiling"));
    box.append(el("summary", "", el("div", "", el("div", "title", el("span", "tag " + f.level, f.id && f.id !== f.kind ? f.id : f.kind), f.title), f.location ? where(f.location) : null), cost));
    const dl = el("dl"), row = (name, ...what) => dl.append(el("dt", "", name), el("dd", "", ...what));
    if (f.cost) row("cost", f.cost);
    if (f.why) row("why", f.why);
    if (f.evidence.length) row("log", ...f.evidence.map((t) => el("div", "quote", t)));
    if (f.fix.length) row("fix", ...f.fix.map((t) => el("pre", "", t)));
    if (f.next.length) row("next", ...f.next.map(copyable));
    if (f.compile_ids.length) row("in", el("code", "", f.compile_ids.join(" ")));
    const source = doc.inputs[f.input];
    if (source && source.path) row("from", el("span", "dim mono", source.path + (f.log_line ? ":" + f.log_line : "")));
    if (/^https?:\/\//.test(f.url || "")) {
      const a = el("a", "", f.url);
      a.href = f.url;
      a.rel = "noreferrer noopener";
      row("see", a);
    }
    box.append(el("div", "body", dl));
    box.open = i < 3 && f.level !== "note";
    return box;
  }

  /* ---- breaks ---- */

  function breakRow(g) {
    const text = el("td", "wide"), most = Math.max(...doc.breaks.map((b) => b.seconds || 0), 1e-9);
    const more = g.explanation || g.hints.length || g.context;
    const reason = (g.reason || "reason not known").split("\n")[0];
    if (more) {
      const d = el("details", "", el("summary", "", reason));
      if (g.explanation) d.append(el("p", "", g.explanation));
      if (g.hints.length) d.append(el("ul", "hints", ...g.hints.map((h) => el("li", "", h))));
      if (g.context) d.append(el("div", "quote", g.context));
      text.append(d);
    } else {
      text.append(reason);
    }
    const gb = el("td");
    if (g.gb && /^https?:\/\//.test(g.url || "")) {
      const a = el("a", "", g.gb);
      a.href = g.url;
      a.rel = "noreferrer noopener";
      gb.append(a);
    } else {
      gb.append(g.gb || el("span", "dim", g.kind));
    }
    const cost = [g.graphs_after ? count(g.graphs_after, "more graph") : "", g.frames_in_eager ? count(g.frames_in_eager, "frame") + " in eager" : "", g.seconds !== null ? seconds(g.seconds) : ""].filter(Boolean).join(", ");
    return el("tr", "", el("td", "at", where(g.location)), text, gb, el("td", "num", g.count + (g.inferred ? " + " + g.inferred : "")), el("td", "cell", cost, g.seconds !== null ? bar(g.seconds / most) : null));
  }

  /* ---- compilations over time: a row per frame ---- */

  function overTime() {
    const rows = [], by = new Map();
    doc.compiles.forEach((c, i) => {
      if (c.start === null) return;
      const key = [c.input, c.compiled_autograd_id, c.frame_id].join("/");
      if (!by.has(key)) { by.set(key, rows.length); rows.push([]); }
      rows[by.get(key)].push(i);
    });
    if (!rows.length) return null;
    const cost = (r) => r.reduce((s, i) => s + (doc.compiles[i].seconds || 0), 0);
    const most = 40, left = rows.length > most ? rows.length - most : 0;
    const shown = (left ? [...rows].sort((a, b) => cost(b) - cost(a)).slice(0, most) : rows).sort((a, b) => doc.compiles[a[0]].start - doc.compiles[b[0]].start);
    const W = 1140, L = 250, R = 16, H = 20, top = 6, end = Math.max(...shown.flat().map((i) => doc.compiles[i].start + (doc.compiles[i].seconds || 0)), 0.001);
    const x = (t) => L + t / end * (W - L - R);
    const s = svg("svg", { viewBox: "0 0 " + W + " " + (top + shown.length * H + 26), role: "img", "aria-label": "When each frame was compiled" });
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((v) => end / v <= 8) || end / 8;
    for (let t = 0; t <= end * 1.0001; t += step)
      s.append(svg("line", { x1: x(t), x2: x(t), y1: top, y2: top + shown.length * H, class: "grid" }),
        svg("text", { x: x(t), y: top + shown.length * H + 15, "text-anchor": "middle" }, step < 1 ? t.toFixed(step < 0.1 ? 2 : 1) + " s" : Math.round(t) + " s"));
    shown.forEach((ids, r) => {
      const c0 = doc.compiles[ids[0]], y = top + r * H, g = svg("g", { class: "row" });
      const label = tag(c0) + (c0.location ? called(c0) + "  " + c0.location.file.split("/").pop() + (c0.resume_of ? "" : ":" + c0.location.line) : "frame " + c0.frame_id);
      g.append(svg("rect", { x: 0, y, width: W, height: H, class: "strip" }), svg("text", { x: L - 10, y: y + 14, "text-anchor": "end", class: "name" }, fit(label)));
      for (const i of ids) {
        const c = doc.compiles[i], cls = c.status === "error" ? "failed" : c.status === "missing" || c.status === "empty" ? "none" : c.frame_compile_id > 0 ? "again" : "first";
        const e = svg("rect", { x: x(c.start).toFixed(1), y: y + 4, width: Math.max(3, x(c.start + (c.seconds || 0)) - x(c.start)).toFixed(1), height: H - 8, rx: 2, class: "seg " + cls });
        e.append(svg("title", {}, c.id + (c.location ? " " + c.location.function : "") + "\n" + c.status + ", " + (seconds(c.seconds) || "time not known") + (c.graph_ops !== null ? ", " + c.graph_ops + " operations" : "") + (c.fail_type ? "\n" + c.fail_type : "")));
        g.append(e);
      }
      s.append(g);
    });
    const dot = (v, text) => { const i = el("i"); i.style.background = "var(--" + v + ")"; return el("span", "", i, text); };
    return el("div", "panel plot", s, el("div", "legend", dot("ok", "first time"), dot("warn", "compiled again"), dot("bad", "failed"), dot("p7", "no graph, or no end in the log"), left ? el("span", "", left + " quick frames are left out") : null));
  }
  function frame(f) {
    const box = el("div", f.limited ? "frame limited" : "frame", el("div", "", el("span", "dim", tag(f)), where(f.location), " ", f.limited ? el("span", "tag error", "limit reached: runs in eager from here on") : null,
      el("span", "dim", " compiled " + f.compiles + " times" + (f.seconds !== null ? ", " + seconds(f.seconds) : ""))));
    const steps = el("div", "steps"), most = 12;
    f.steps.slice(0, most).forEach((s, i) => {
      if (i) steps.append(el("span", "change", s.change || s.guard || "reason not known"));
      const c = s.compile === null ? null : doc.compiles[s.compile], e = el("span", "step" + (c && c.status === "error" ? " error" : i ? " again" : ""), s.id || "?");
      if (s.seconds !== null) e.title = seconds(s.seconds);
      steps.append(e);
    });
    if (f.steps.length > most) steps.append(el("span", "dim", " and " + (f.steps.length - most) + " more"));
    box.append(steps);
    const fixes = [...new Set(f.steps.map((s) => s.fix).filter(Boolean))];
    if (fixes.length) box.append(el("pre", "", fixes.slice(0, 3).join("\n")));
    return box;
  }

  /* ---- where the time went ---- */

  function times() {
    const run = doc.times.find((t) => t.compile === null), rows = doc.times.filter((t) => t.compile !== null && t.parts.length).sort((a, b) => (b.seconds || 0) - (a.seconds || 0));
    const total = new Map();
    for (const t of run && run.parts.length ? [run] : rows) for (const p of t.parts) total.set(p.name, (total.get(p.name) || 0) + (p.seconds || 0));
    const names = [...total.keys()].sort((a, b) => total.get(b) - total.get(a));
    if (!names.length) return null;
    for (const t of rows) for (const p of t.parts) if (!total.has(p.name)) { total.set(p.name, p.seconds || 0); names.push(p.name); }
    const color = (name) => "var(--p" + Math.min(names.indexOf(name), 7) + ")";
    const shown = [...(run ? [run] : []), ...rows.slice(0, 40)], W = 1140, L = 250, R = 80, H = 22;
    const width = (t) => Math.max(t.seconds || 0, t.parts.reduce((s, p) => s + (p.seconds || 0), 0));
    const most = Math.max(...rows.map(width), 1e-9);
    const s = svg("svg", { viewBox: "0 0 " + W + " " + (shown.length * H + (run && rows.length ? 14 : 6)), role: "img", "aria-label": "Compile time by part" });
    shown.forEach((t, r) => {
      const all = width(t), scale = (W - L - R) / (t === run || !rows.length ? Math.max(all, 1e-9) : most), y = 2 + r * H + (run && r ? 8 : 0);
      const c = t.compile === null ? null : doc.compiles[t.compile];
      const label = c ? tag(c) + t.id + "  " + called(c) : "the whole run";
      s.append(svg("text", { x: L - 10, y: y + 14, "text-anchor": "end", class: "name" }, fit(label)));
      let x = L;
      for (const p of [...t.parts].sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))) {
        const w = (p.seconds || 0) * scale;
        if (w < 0.3) continue;
        const e = svg("rect", { x: x.toFixed(1), y: y + 2, width: w.toFixed(1), height: H - 6, class: "seg" });
        e.style.fill = color(p.name);
        e.append(svg("title", {}, p.name + ": " + seconds(p.seconds) + (p.calls > 1 ? " in " + p.calls + " calls" : "")));
        s.append(e);
        x += w;
      }
      s.append(svg("text", { x: x + 6, y: y + 14 }, seconds(t.seconds === null ? all : t.seconds)));
    });
    const legend = el("div", "legend");
    for (const n of names.slice(0, 14)) {
      const i = el("i");
      i.style.background = color(n);
      legend.append(el("span", "", i, n + " ", el("b", "", seconds(total.get(n)))));
    }
    return el("div", "panel plot", s, legend);
  }

  /* ---- the other tables ---- */

  function symbolRow(v) {
    const bounds = el("td", "wide");
    for (const b of v.bounds.slice(0, 3)) bounds.append(el("div", "", el("span", "tag" + (b.kind === "specialized" || b.kind === "data-dependent" || b.kind === "constraint" ? " warning" : ""), b.kind), " ", el("code", "", b.expr || (b.value ? "= " + b.value : "")), b.location ? el("div", "", where(b.location, true)) : null));
    if (v.bounds.length > 3) bounds.append(el("div", "dim", "and " + (v.bounds.length - 3) + " more"));
    return el("tr", "", el("td", "mono", v.symbol), el("td", "mono", v.value || ""), el("td", "mono", v.range || v.range_at_first || ""), el("td", "mono", v.source || (v.unbacked ? "unbacked" : "")), bounds);
  }
  const idOf = (i) => i === null || !doc.compiles[i] ? "" : doc.compiles[i].id;

  document.getElementById("names").append(doc.inputs.map((i) => i.path).join(", "));
  document.title = "fxexplain: " + (doc.inputs[0] ? doc.inputs[0].path.split("/").pop() : "");
  main.append(verdict(), tiles());
  if (doc.findings.length) section("findings", "Findings", "worst first", atMost(doc.findings, finding, el("div", "")));
  if (doc.breaks.length) section("breaks", "Graph breaks", "by line of the program", table([["where"], ["reason"], [""], ["times", "num"], ["cost"]], doc.breaks, breakRow));
  const plot = overTime(), again = doc.frames.filter((f) => f.recompiles > 0 || f.limited);
  if (plot || again.length) section("recompiles", "Compilations", again.length ? count(again.length, "frame") + " compiled more than once" : "", plot || "", atMost(again, frame, el("div", "")));
  const bars = times();
  if (bars) section("times", "Compile time", sum.compile_seconds !== null ? seconds(sum.compile_seconds) : "", bars);
  if (doc.symbols.length) section("shapes", "Dynamic shapes", count(doc.symbols.length, "symbol"), table([["symbol"], ["was"], ["range"], ["source"], ["bounded by"]], doc.symbols, symbolRow));
  const cached = doc.caches.filter((c) => c.what !== "hit" || doc.caches.length <= SHOWN);
  if (doc.caches.length) section("caches", "Caches", count(doc.caches.length, "look-up"), table([["compile id"], ["cache"], [""], ["reason"]], cached, (c) => el("tr", "", el("td", "mono", idOf(c.compile)), el("td", "", c.cache + (c.name ? " (" + c.name + ")" : "")), el("td", "", el("span", "tag " + c.what, c.what)), el("td", "wide", c.reason || ""))));
  if (doc.cudagraphs.length) section("cudagraphs", "CUDA graphs", "skipped", table([["compile id"], ["where"], ["reason"]], doc.cudagraphs, (c) => el("tr", "", el("td", "mono", idOf(c.compile)), el("td", "", c.location ? where(c.location) : ""), el("td", "wide", c.reason || ""))));
  const failures = doc.failures.filter((f) => !f.restart);
  if (failures.length) section("failures", "Failures", "", table([["compile id"], ["where"], ["what"]], failures, (f) => {
    const d = el("details", "", el("summary", "", (f.type || "signal " + f.signal) + (f.caught ? " (caught)" : "")), el("pre", "", f.reason || ""));
    if (f.frames.length) d.append(el("pre", "", f.frames.join("\n")));
    return el("tr", "", el("td", "mono", idOf(f.compile)), el("td", "at", where(f.location)), el("td", "wide", d));
  }));
  if (doc.compiles.length) {
    const t = table([["id"], ["where"], ["status"], ["seconds", "num"], ["ops", "num"], ["guards", "num"], ["graph breaks", "num"]], doc.compiles, (c) => {
      const n = (v) => el("td", "num", v === null ? "" : v.toLocaleString("en"));
      return el("tr", "", el("td", "mono", c.id), el("td", "at", where(c.location)), el("td", "", el("span", "tag" + (c.status === "error" ? " error" : c.status === "ok" ? " ok" : ""), c.status)), el("td", "num", seconds(c.seconds)), n(c.graph_ops), n(c.guards), n(c.graph_breaks));
    });
    section("compiles", "Compile ids", count(doc.compiles.length, "row"), el("details", "", el("summary", "", "Show the table"), t));
  }
  if (doc.damage.length) section("damage", "Not read whole", "", table([["input"], ["line", "num"], ["what"]], doc.damage, (d) => el("tr", "", el("td", "mono", doc.inputs[d.input] ? doc.inputs[d.input].path : ""), el("td", "num", d.log_line === null ? "" : d.log_line), el("td", "wide", d.text))));
  main.append(el("footer", "", doc.tool + " " + doc.version + (sum.torch_version ? ", torch " + sum.torch_version : "") + ", " + count(sum.lines, "line") + " read."));

  window.addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
  /* What a browser test may call. */
  window.pt2explain = { doc, openAll() { for (const b of document.querySelectorAll("button.more")) b.click(); for (const d of document.querySelectorAll("details")) d.open = true; } };
})();
