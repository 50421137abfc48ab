// What happened according to the log: summary, stacks, compile ids, failures, graph breaks, recompiles, symbols.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc;
  const views = pt2.views = {};

  // ---- pieces used everywhere --------------------------------------------------------------------------------

  // The address of a view: log 0 needs no prefix, so that the common single log has short addresses.
  pt2.href = (log, ...parts) => "#/" + (log ? "L" + log + "/" : "") + parts.map(encodeURIComponent).join("/");
  pt2.compileLabel = c => c.none ? (c.id === "unknown" ? c.id : "none") : (c.id == null ? "no id" : c.id) + (c.attempt > 0 ? "_" + c.attempt : "") + (c.nth > 1 ? " (" + c.nth + (["th", "st", "nd", "rd"][c.nth % 100 > 10 && c.nth % 100 < 14 ? 0 : c.nth % 10] || "th") + ")" : "");
  const STATUS = {
    ok: "compiled", break: "compiled after a graph break or restart", empty: "nothing to compile: no operations in the graph",
    error: "failed", missing: "no compilation_metrics in the log",
  };
  pt2.compileLink = function (log, i) {
    const c = typeof i === "object" ? i : doc.logs[log].compile_ids[i];
    if (!c || c.none) return h("span.dim", null, "no compile id");
    return h("a.cid.st-" + status(c), { href: pt2.href(log, "compile", c.slug), title: STATUS[status(c)] + (c.location ? "\n" + place(c.location) : "") }, pt2.compileLabel(c));
  };
  const status = c => STATUS[c.status] ? c.status : "missing";
  const place = l => l.file + ":" + l.line + (l.function ? " in " + l.function : "");
  const badge = s => h("span.badge.st-" + s, { title: STATUS[s] }, s);

  // file:line in function, the path behind the pointer, and the line of code under it.
  pt2.where = function (l, code) {
    if (!l || l.file == null) return h("span.dim", null, "location unknown");
    return h("span.where", { title: place(l) }, h("b", null, pt2.baseName(l.file) + (l.line == null ? "" : ":" + l.line)), l.function && [" in ", h("span.fn", null, l.function)],
      code && l.code && codeLine(l.code));
  };
  const codeLine = s => { const el = h("code.line"); paint(el, s); return el; };
  function paint(el, s) {
    let x = 0;
    pt2.langs.py(s, 0, (a, b, c) => { if (a > x) el.append(s.slice(x, a)); el.append(h("span.x-" + c, null, s.slice(a, b))); x = b; });
    el.append(s.slice(x));
  }
  pt2.codeSpan = function (s) { const el = h("code"); paint(el, s); return el; };

  // A text whose first line matters most; the rest folds.
  function folded(text, cls) {
    const s = String(text).trim(), at = s.indexOf("\n");
    if (s.length < 700 && s.split("\n").length < 9) return h("div." + cls, null, s);
    const first = s.slice(0, at < 0 ? 300 : Math.min(at, 300));
    return h("details.fold", null, h("summary", null, h("span." + cls, null, first + (first.length < s.length && at !== first.length ? "…" : ""))), h("pre", null, s));
  }
  const section = (title, count, ...body) => h("section", null, h("h2", null, title, count != null && h("span.n", null, pt2.num(count))), body);
  const empty = text => h("p.empty", null, text);
  const head = (title, note) => h("div.head", null, h("h1", null, title), note && h("p", null, note));
  const artifactLink = (log, i, text) => i == null || i < 0 || i >= pt2.count(log) ? null : h("a", { href: pt2.href(log, "artifact", i) }, text || pt2.artifactName(log, i));
  const line = n => n ? h("span.dim", null, "log line " + n) : null;
  pt2.parts = { section, empty, head };

  // Many chips: the first few, the rest behind a button.
  function chips(log, ids, most = 12) {
    const el = h("span.chips", null, ids.slice(0, most).map(i => pt2.compileLink(log, i)));
    if (ids.length > most) {
      const more = h("button.link", { type: "button", onclick: () => { more.remove(); el.append(...ids.slice(most).map(i => pt2.compileLink(log, i))); } }, "+ " + (ids.length - most));
      el.append(more);
    }
    return el;
  }
  pt2.chips = chips;
  // Long lists of blocks: some now, the rest on demand.
  function some(items, make, most = 60) {
    const el = h("div.blocks");
    let n = 0;
    const more = h("button.more", { type: "button", onclick: add });
    function add() {
      more.remove();
      for (const stop = Math.min(items.length, n + most); n < stop; n++) el.append(make(items[n], n));
      if (n < items.length) { more.textContent = "Show " + Math.min(most, items.length - n) + " more of " + pt2.num(items.length - n); el.append(more); }
    }
    add();
    return el;
  }
  pt2.some = some;
  function groupBy(list, key) {
    const m = new Map();
    for (const x of list) { const k = key(x); if (m.has(k)) m.get(k).push(x); else m.set(k, [x]); }
    return [...m.entries()];
  }
  pt2.groupBy = groupBy;

  // ---- summary -----------------------------------------------------------------------------------------------

  function banner(log, L) {
    if (!L.damage.length) return null;
    const n = L.damage.reduce((a, d) => a + (d.count || 1), 0);
    return h("section.banner", { role: "alert" },
      h("h2", null, "This log is damaged: ", pt2.plural(n, "problem")), h("p", null, "Everything readable is in this report. Not readable:"),
      some(L.damage, d => h("div.row", null, h("b", null, String(d.kind).replace(/_/g, " ")), d.count > 1 ? " × " + pt2.num(d.count) : "",
        d.line ? h("span.dim", null, d.count > 1 ? " first at line " : " at line ", d.line) : "", h("div", null, d.text)), 8));
  }
  function card(title, value, note, href, tone) {
    return h((href ? "a" : "div") + ".stat" + (tone ? "." + tone : ""), { href }, h("span.t", null, title), h("span.v", null, value), h("span.s", null, note));
  }
  function cards(log, S, linked) {
    const to = (...p) => linked ? pt2.href(log, ...p) : null;
    let hit = 0, miss = 0, bypass = 0;
    const each = [];
    for (const k in S.cache || {}) {
      const c = S.cache[k];
      hit += c.hit || 0;
      miss += c.miss || 0;
      bypass += c.bypass || 0;
      each.push(k + ": " + (c.hit || 0) + " hit, " + (c.miss || 0) + " miss, " + (c.bypass || 0) + " bypass");
    }
    const cache = card("Caches", [pt2.num(hit), h("small", null, " hit "), pt2.num(miss), h("small", null, " miss"), bypass ? [" " + pt2.num(bypass), h("small", null, " bypass")] : null],
      Object.keys(S.cache || {}).filter(k => Object.values(S.cache[k]).some(Boolean)).join(", "), to("artifacts", "_cache_"), bypass ? "warn" : "");
    cache.title = each.join("\n");
    const many = (n, one, more) => pt2.num(n) + " " + (n === 1 ? one : more || one + "s");
    const any = n => n ? card : () => null; // no tile for zero
    return h("div.stats", null,
      card("Compile time", pt2.secs(S.compile_seconds), "all compilations", to("timeline")),
      card("Compilations", pt2.num(S.compiles), many(S.frames, "frame") + ", " + many(S.graphs, "graph"), to("compiles")),
      any(S.graph_breaks)("Graph breaks", pt2.num(S.graph_breaks), "by user line, with hints", to("breaks"), "warn"),
      any(S.recompiles)("Recompiles", pt2.num(S.recompiles), "with the guard that failed", to("recompiles"), "warn"),
      any(S.failures)("Failures", pt2.num(S.failures), "compilations that raised an exception", to("failures"), "bad"),
      any(S.restarts)("Restarts", pt2.num(S.restarts), "analysis restarted", to("failures"), "warn"),
      hit + miss + bypass ? cache : null,
      any(S.cudagraph_skips)("CUDA graph skips", pt2.num(S.cudagraph_skips), "with reasons", to("failures"), "warn"),
      linked && doc.logs[log].export && (x => card("Export", x.value, x.note, to("export"), x.tone))(pt2.exportCard(doc.logs[log])),
      any(S.artifacts)("Artifacts", pt2.num(S.artifacts), pt2.bytes(S.bytes) + " of log, " + many(S.records, "record"), to("artifacts")),
      any(S.unknown_keys)("Unknown records", pt2.num(S.unknown_keys), "with unknown keys", to("records"), "warn"));
  }
  function bars(items, most) {
    const top = Math.max(1e-12, ...items.map(i => i.seconds));
    return h("div.bars", { role: "list" }, items.slice(0, most).map(i => h("div.barrow", { role: "listitem" },
      h("span.bl", { title: i.title || i.name }, i.label || i.name), h("span.meter", null, h("i", { style: "width:" + (i.seconds / top * 100).toFixed(1) + "%" })), h("span.num", null, pt2.secs(i.seconds)))));
  }
  // Parts of compiling, which add up: of a log (input), or of all.
  function timeParts(input) {
    const all = doc.time_sums || [], whole = doc.logs.length === 1 || input == null ? all.filter(t => t.input == null) : [];
    const sum = new Map();
    for (const t of whole.length && whole[0].parts.length ? whole : all.filter(t => t.input != null && (input == null || t.input === input)))
      for (const p of t.parts) { const x = sum.get(p.name) || { name: p.name, seconds: 0, calls: 0 }; x.seconds += p.seconds || 0; x.calls += p.calls; sum.set(p.name, x); }
    const list = [...sum.values()].filter(p => p.seconds > 0).sort((a, b) => b.seconds - a.seconds);
    for (const p of list) p.title = p.name + ": " + pt2.plural(p.calls, "call");
    return section("Where the time went", null, list.length ? bars(list, 9) : empty("No times recorded."));
  }

  // ---- what fxexplain knows: causes and fixes ------------------------------------------------------------------

  const sameLine = (a, b) => a && b && a.file === b.file && a.line === b.line;
  // The finding that tells of a problem: of this log, this kind, at this line (or of a compile id).
  const told = (L, kinds, at, id) => (doc.findings || []).find(f => f.input === L.input && kinds.includes(f.kind) && (sameLine(f.location, at) || (id && f.compile_ids.includes(id))));
  // Its cause and what to change, for the head of the problem.
  // Known bugs of torch that it looks like (bugs.h).
  const bugText = b => (b.fixed ? ": fixed in " + b.fixed + (b.state === "fixed" ? ", so here it has another cause, or is back. " : ". ") : b.last ? ": not fixed in " + b.last + ". " : ": ") + b.what + (b.until ? " Workaround: " + b.until : "");
  const bugs = list => list.length ? [h("dt", null, "known"), h("dd", null, list.map(b => h("p", null, h("a", { href: b.url, rel: "noreferrer" }, "pytorch#" + b.url.split("/").pop()), bugText(b))))] : null;
  function cure(f) {
    if (!f) return null;
    const list = (name, lines) => lines && lines.length ? [h("dt", null, name), h("dd", null, lines.map(t => h("pre", null, t)))] : null;
    return h("dl.cure", null, f.why ? [h("dt", null, "cause"), h("dd", null, f.why)] : null, bugs(f.known_bugs || []), list("fix", f.fix), list("hint", f.hints), list("torch's hint", f.fix.length || f.hints.length ? [] : f.torch_hints),
      list("next", f.fix.length || f.hints.length ? [] : f.next), f.cost ? [h("dt", null, "cost"), h("dd", null, f.cost)] : null);
  }
  // Which part failed, and what that rests on.
  function verdict(L) {
    const v = doc.verdict && doc.verdict.title ? doc.verdict : null, f = v && v.failure != null ? doc.failures[v.failure] : null;
    if (!v || (f && f.input !== L.input)) return null;
    const part = (name, lines) => lines.length ? [h("dt", null, name), h("dd", null, h("pre", null, lines.join("\n")))] : null;
    return h("section.banner", { role: "status" }, h("h2", null, v.unfinished ? "Unfinished: " : { proven: "Failed: ", likely: "Likely cause: " }[v.sure] || "Not known yet: ", v.title),
      f && h("p", null, h("b", null, f.type || (f.signal ? "signal " + f.signal : "error")), ": ", short(f.reason)),
      h("dl.cure", null, part("because", v.evidence.slice(f ? 1 : 0)), part("to confirm", v.experiment), part("next", v.next || []), part("smallest repro", v.minify ? [v.minify] : [])));
  }
  const VIEW = { failure: "failures", known: "failures", "recompile-limit": "recompiles", recompile: "recompiles", "graph-break": "breaks", "dynamic-shape": "symbols", "compile-time": "timeline",
    cache: "artifacts", cudagraph: "failures", damage: "records" };
  // Of one log (what ranks share is on the page of each), or of all.
  function findings(log) {
    const mine = (doc.findings || []).filter(f => log == null || f.input === doc.logs[log].input || (f.ranks.length > 1 && f.ranks.includes(doc.logs[log].rank)));
    const ignored = (doc.ignored || []).filter(f => log == null || f.input === doc.logs[log].input);
    const silenced = ignored.length ? h("p.note", null, pt2.plural(ignored.length, "finding") + " ignored: ", ignored.slice(0, 20).map((f, i) => [i ? ", " : "", f.id || f.kind, f.location && [" at ", pt2.where(f.location)], " (" + f.ignored_by + ")"])) : null;
    if (!mine.length) return silenced;
    const at = f => Math.max(0, doc.logs.findIndex(L => L.input === f.input));
    return section("What to look at, worst first", mine.length, (log == null || doc.logs.length === 1) && doc.headline ? h("p.lead", null, doc.headline) : null, some(mine, f =>
      h("details.item." + (f.level === "error" ? "bad" : f.level === "warning" ? "warn" : "ok"), { open: mine.indexOf(f) < 3 && f.level !== "note" },
        h("summary", null, h("b", null, f.title), " ", f.location && pt2.where(f.location), " ", f.count > 1 && h("span.n", null, f.count + " times"),
          f.ranks.length ? h("span.n", null, (f.ranks.length === 1 ? " rank " : " ranks ") + f.ranks.join(", ")) : null),
        cure(f), f.evidence.length ? h("pre.quote", null, f.evidence.join("\n")) : null,
        h("p.meta", null, log == null ? [h("a", { href: "#/L" + at(f) + "/" }, pt2.baseName(doc.logs[at(f)].path)), " "] : null, h("a", { href: pt2.href(at(f), VIEW[f.kind] || "") }, "in the log"), " ",
          chips(at(f), ids(doc.logs[at(f)], f.compile_ids)), " ", f.line && line(f.line))), 12), silenced);
  }
  // Labels ("0/0 (2nd)") -> the last attempt of each.
  function ids(L, labels) {
    const out = [];
    for (const l of labels) { const c = L.compile_ids.filter(x => x.label === l || (x.label == null && x.id === l)).pop(); if (c) out.push(c.index); }
    return out;
  }

  const short = s => { s = String(s == null ? "" : s).split("\n")[0]; return s.length > 220 ? s.slice(0, 219) + "…" : s; };
  // frame_id -> its compilations
  function family(L, id) {
    if (!L.families) { L.families = new Map(); for (const c of L.compile_ids) { const f = L.families.get(c.frame_id); if (f) f.push(c); else L.families.set(c.frame_id, [c]); } }
    return L.families.get(id) || [];
  }
  const frameOf = (L, i) => { const c = L.compile_ids[i]; return c ? c.frame_id : -1; };
  // A compilation that was given up has no metrics and so no place; the others of its frame do.
  const placeOf = pt2.placeOf = (L, i) => { const c = L.compile_ids[i], d = c && (c.location ? c : family(L, c.frame_id).find(x => x.location)); return d ? d.location : null; };

  function unknown(log, L) {
    if (!L.unknown_keys.length) return null;
    return section("Records with unknown keys", L.unknown_keys.length, h("p.note", null, "This version of tlparse does not know these keys. Their records are under Other records."),
      h("ul.plain", null, L.unknown_keys.slice(0, 50).map(u => h("li", null, h("a", { href: pt2.href(log, "records", u.key) }, h("code", null, u.key)), " × " + pt2.num(u.count), u.line ? h("span.dim", null, ", first at line " + u.line) : ""))));
  }

  views.overview = function (log) {
    const L = doc.logs[log], S = L.summary || doc.summary;
    const slow = L.compile_ids.filter(c => c.seconds > 0).sort((a, b) => b.seconds - a.seconds);
    const facts = ["torch " + (S.torch_version || "version not recorded"), L.rank != null && "rank " + L.rank, L.pid != null && "process " + L.pid, L.start && "started " + String(L.start).replace(/^(\d\d)(\d\d) /, "$1-$2 ").replace("T", " ").replace(/\.\d+$/, ""),
      L.seconds != null && pt2.secs(L.seconds) + " of log"].filter(Boolean);
    return h("div.view", null, banner(log, L),
      h("div.head", null, h("h1", null, pt2.baseName(L.path)), h("p", null, facts.join("  ·  "))),
      verdict(L), findings(log), cards(log, S, true),
      h("div.two", null, timeParts(L.input),
        section("Slowest compilations", null, slow.length ? h("div.bars", { role: "list" }, slow.slice(0, 9).map(c => h("div.barrow", { role: "listitem" },
          h("span.bl", null, pt2.compileLink(log, c), " ", c.location ? h("span", { title: place(c.location) }, c.location.function || pt2.baseName(c.location.file)) : ""),
          h("span.meter", null, h("i", { style: "width:" + (c.seconds / slow[0].seconds * 100).toFixed(1) + "%" })), h("span.num", null, pt2.secs(c.seconds))))) : empty("No compilation times in this log."))),
      unknown(log, L),
      section("Where compilations started", null, trie(log)));
  };

  // Where the ranks agree, where they diverge, which are slow: its own page (libcommon/cli/run/ranks), in a template.
  function comparison() {
    const t = document.getElementById("ranks");
    if (!t) return [null, null];
    const host = h("div.ranks"), root = host.attachShadow({ mode: "open" });
    root.append(t.content.cloneNode(true)); // its style is by hash in the page's policy: none is added here
    const follow = e => {
      const a = e.target.closest("a[href^='#']"), to = a && !a.hash.startsWith("#/") && root.getElementById(a.hash.slice(1));
      if (to) { e.preventDefault(); to.scrollIntoView({ block: "start" }); }
    };
    root.addEventListener("click", follow);
    window.pt2ranks(root);
    const ranked = doc.logs.some(L => L.rank != null), verdict = root.querySelector(".verdict");
    const top = ranked ? h("div", { onclick: follow }, verdict) : null;
    return [top, h("section", null, ranked ? [h("h2", null, "Comparison"), host] : h("details", null, h("summary", null, "Compare these logs as processes of one program"), host))];
  }
  views.all = function () {
    const [verdict, compared] = comparison();
    const S = doc.summary, rows = doc.logs.map((L, i) => ({ L, S: L.summary || {}, i }));
    const col = (title, get, tone) => ({ title, width: "minmax(86px, 1fr)", num: true, cell: r => { const v = get(r.S); return v && tone ? h("span." + tone, null, pt2.num(v)) : pt2.num(v); }, sort: r => get(r.S) });
    const damaged = rows.filter(r => r.L.damage.length);
    return h("div.view", null,
      damaged.length ? h("section.banner", { role: "alert" }, h("h2", null, "Damaged: ", pt2.plural(damaged.length, "log")), damaged.slice(0, 20).map(r => h("div.row", null, h("a", { href: "#/L" + r.i + "/" }, pt2.baseName(r.L.path)), ": ",
        r.L.damage.slice(0, 3).map(d => d.kind.replace(/_/g, " ") + (d.line ? " at line " + d.line : "")).join("; ")))) : null,
      head(pt2.plural(doc.logs.length, "log"), ["torch " + (S.torch_version || "version not recorded"), S.ranks && S.ranks.length ? "ranks " + S.ranks.join(", ") : null].filter(Boolean).join("  ·  ")),
      verdict, findings(null), cards(0, S, false),
      section("Logs", doc.logs.length, pt2.table({
        label: "Logs", rows, open: r => { location.hash = "#/L" + r.i + "/"; },
        columns: [
          { title: "Log", width: "minmax(310px, 3fr)", cell: r => h("a", { href: "#/L" + r.i + "/", title: r.L.path }, pt2.baseName(r.L.path)), sort: r => r.L.path },
          { title: "Rank", width: "64px", num: true, cell: r => pt2.num(r.L.rank), sort: r => r.L.rank },
          { title: "Process", width: "84px", num: true, cell: r => r.L.pid == null ? "–" : String(r.L.pid), sort: r => r.L.pid },
          { title: "Compile time", width: "minmax(100px, 1fr)", num: true, cell: r => pt2.secs(r.S.compile_seconds), sort: r => r.S.compile_seconds },
          col("Compiles", s => s.compiles), col("Recompiles", s => s.recompiles, "warn"), col("Breaks", s => s.graph_breaks, "warn"), col("Failures", s => s.failures, "bad"),
          col("Restarts", s => s.restarts), col("Artifacts", s => s.artifacts), col("Damaged", s => s.damaged, "bad"),
        ],
      }).el), compared, timeParts());
  };

  // ---- stacks ------------------------------------------------------------------------------------------------

  // The trie of stacks. Frames with one way on are one run, so a stack of thirty frames is not thirty steps deep.
  function trie(log) {
    const L = doc.logs[log], stacks = L.stacks, kids = stacks.map(() => []), tops = [], weight = new Uint32Array(stacks.length);
    stacks.forEach(([p], i) => (p >= 0 && p < i ? kids[p] : tops).push(i));
    for (let i = stacks.length - 1; i >= 0; i--) { weight[i] += (stacks[i][2] || []).length; const p = stacks[i][0]; if (p >= 0 && p < i) weight[p] += weight[i]; }
    const unknownStack = L.real.filter(c => !(L.compile_stacks[c.index] >= 0)).map(c => c.index);
    if (!stacks.length && !unknownStack.length) return empty("No stacks recorded.");
    let budget = 600;
    function frame(i) {
      const f = L.frames[stacks[i][1]] || [], file = pt2.doc.texts[f[0]] == null ? "?" : pt2.doc.texts[f[0]];
      return h("span.frame" + (/[/\\](site|dist)-packages[/\\]|[/\\]torch[/\\]_|^torch[/\\]|^<frozen|[/\\]lib[/\\]python\d/.test(file) ? ".lib" : ""), { title: file + ":" + f[1] }, h("b", null, pt2.baseName(file) + ":" + f[1]), " in ", h("span.fn", null, f[2] || "?"), f[3] ? codeLine(f[3]) : null);
    }
    function worst(ids) { return ["error", "break", "missing", "empty", "ok"].find(s => ids.some(i => L.compile_ids[i] && status(L.compile_ids[i]) === s)) || "none"; }
    function node(i) {
      const run = [i];
      while (kids[i].length === 1 && !(stacks[i][2] || []).length) { i = kids[i][0]; run.push(i); }
      const ids = stacks[i][2] || [], last = run.pop();
      const el = h("div.tnode.sb-" + worst(ids));
      if (run.length > 4) {
        el.append(frame2(run[0]), h("details.fold", null, h("summary", null, pt2.plural(run.length - 2, "more frame")), run.slice(1, -1).map(frame2)), frame2(run[run.length - 1]));
      } else el.append(...run.map(frame2));
      const line = h("span.tline", null, frame(last), ids.length ? chips(log, ids) : null);
      if (!kids[i].length) { el.append(h("div.tleaf", null, line)); return el; }
      budget -= kids[i].length;
      const below = h("div.tkids"), d = h("details.tfold", null, h("summary", null, line, h("span.dim.cnt", null, pt2.plural(weight[i], "compile"))), below);
      const fill = () => { if (!below.firstChild) below.append(some(kids[i], node, 200)); };
      if (budget > 0) { d.open = true; fill(); }
      d.addEventListener("toggle", () => { if (d.open) fill(); });
      el.append(d);
      return el;
    }
    const frame2 = i => h("div.tleaf", null, frame(i));
    const body = h("div.trie");
    body.append(some(tops, node, 300));
    if (unknownStack.length) body.append(h("div.tnode", null, h("div.tleaf", null, h("span.dim", null, "stack not recorded "), chips(log, unknownStack, 40))));
    const all = open => { budget = open ? 1e9 : 0; for (let more = true; more;) { more = false; for (const d of body.querySelectorAll("details.tfold")) if (d.open !== open) { d.open = open; if (open) { more = true; const b = d.lastChild; if (!b.firstChild) d.dispatchEvent(new Event("toggle")); } } } };
    return h("div", null, h("div.bar.legend", null, Object.keys(STATUS).map(s => h("span", { title: STATUS[s] }, h("i.dot.st-" + s), s)), h("span.grow"),
      h("button", { type: "button", onclick: () => all(true) }, "Unfold all"), h("button", { type: "button", onclick: () => all(false) }, "Fold all")), body);
  }
  views.stacks = log => h("div.view", null, head("Stacks", "Where each compilation started: its Python stack, with shared frames shown once."), trie(log));
  function stackOf(log, i) {
    const L = doc.logs[log], out = [];
    for (let n = L.compile_stacks[i], guard = 0; n >= 0 && L.stacks[n] && guard < 5000; n = L.stacks[n][0], guard++) {
      const f = L.frames[L.stacks[n][1]] || [];
      out.unshift({ file: pt2.doc.texts[f[0]], line: f[1], function: f[2], code: f[3] });
    }
    return out;
  }

  // ---- compile ids -------------------------------------------------------------------------------------------

  function breaksOf(L) {
    if (!L.breakCount) { L.breakCount = new Map(); for (const b of L.graph_breaks) L.breakCount.set(b.compile_id, (L.breakCount.get(b.compile_id) || 0) + 1); }
    return L.breakCount;
  }
  views.compiles = function (log) {
    const L = doc.logs[log], n = breaksOf(L), breaks = c => n.get(c.index) || (c.graph_breaks == null ? 0 : c.graph_breaks);
    const num = (title, get, width, tip) => ({ title, tip, width: width || "minmax(64px, 0.6fr)", num: true, cell: c => pt2.num(get(c)), sort: get });
    const sec = (title, get) => ({ title, width: "minmax(86px, 0.8fr)", num: true, cell: c => pt2.secs(get(c)), sort: get });
    const table = pt2.table({
      label: "Compile ids", rows: L.real, open: c => { location.hash = pt2.href(log, "compile", c.slug); },
      columns: [
        { title: "Id", width: "minmax(70px, 0.6fr)", cell: c => pt2.compileLink(log, c), sort: c => pt2.compileLabel(c) },
        { title: "Status", width: "84px", cell: c => badge(status(c)), sort: c => c.status },
        { title: "Code", width: "minmax(210px, 3fr)", cell: c => pt2.where(placeOf(L, c.index)), sort: c => { const l = placeOf(L, c.index); return l ? place(l) : ""; } },
        sec("Total", c => c.seconds), sec("Backend", c => c.backend_seconds), sec("Inductor", c => c.inductor_seconds), sec("Codegen", c => c.code_gen_seconds),
        num("Ops", c => c.graph_ops), num("Nodes", c => c.graph_nodes), num("Inputs", c => c.graph_inputs), num("Guards", c => c.guards),
        { title: "Breaks", width: "minmax(66px, 0.6fr)", num: true, cell: c => breaks(c) ? h("span.warn", null, breaks(c)) : "0", sort: breaks },
        num("Artifacts", c => c.owns.length, "84px"),
      ],
    });
    let want = "";
    const states = [...new Set(L.real.map(status))];
    const box = pt2.searchBox("Filter by id, file, function", apply);
    const seg = h("span.seg", { role: "group", "aria-label": "Status" }, ["", ...states].map(s => h("button", { type: "button", "aria-pressed": String(s === want), "data-s": s, onclick: () => { want = s; apply(); } },
      s ? [h("i.dot.st-" + s), s + " " + L.real.filter(c => status(c) === s).length] : "all " + L.real.length)));
    function apply() {
      const q = box.value.trim().toLowerCase();
      for (const b of seg.children) b.setAttribute("aria-pressed", String(b.dataset.s === want));
      table.set(L.real.filter(c => (!want || status(c) === want) && (!q || (pt2.compileLabel(c) + " " + place(placeOf(L, c.index) || { file: "" })).toLowerCase().includes(q))));
    }
    return h("div.view", null, head("Compile ids", "frame / compilation of that frame, and _attempt if the analysis was restarted."), h("div.bar", null, box, states.length > 1 ? seg : null), table.el);
  };

  views.compile = function (log, slug) {
    const L = doc.logs[log], i = L.slugs.get(slug), c = L.compile_ids[i];
    if (!c) return h("div.view", null, head("Compile id not found"), empty("This log has no compile id " + (slug || "") + "."));
    const mine = list => list.filter(x => x.compile_id === i);
    const brothers = c.frame_id == null ? [] : family(L, c.frame_id).filter(d => d.compiled_autograd_id === c.compiled_autograd_id);
    const stack = stackOf(log, i), breaks = mine(L.graph_breaks), re = mine(L.recompiles), fails = mine(L.failures), syms = mine(L.symbols), spec = mine(L.specializations), skips = mine(L.cudagraph_skips);
    const later = c.seconds == null && brothers.find(d => d.id === c.id && d.attempt > c.attempt);
    const at = L.real.indexOf(c), prev = L.real[at - 1], next = L.real[at + 1];
    const facts = [["Total", pt2.secs(c.seconds)], ["Backend", pt2.secs(c.backend_seconds)], ["Inductor", pt2.secs(c.inductor_seconds)], ["Codegen", pt2.secs(c.code_gen_seconds)],
      ["Graph ops", pt2.num(c.graph_ops)], ["Nodes", pt2.num(c.graph_nodes)], ["Inputs", pt2.num(c.graph_inputs)], ["Guards", pt2.num(c.guards)], ["Cache size", pt2.num(c.cache_size)], ["Log line", c.line || "–"]];
    const total = c.owns.reduce((a, k) => a + L.artifacts.size[k], 0);
    const metrics = h("div");
    const arts = pt2.table({
      label: "Artifacts", rows: c.owns.map(k => pt2.artifact(log, k)), height: 28, open: a => { location.hash = pt2.href(log, "artifact", a.i); },
      columns: pt2.artifactColumns(log, true),
    });
    const view = h("div.view", null,
      h("div.head", null, h("div.crumbs", null, h("a", { href: pt2.href(log, "compiles") }, "Compile ids"), h("span.grow"),
        prev && h("a", { href: pt2.href(log, "compile", prev.slug), rel: "prev" }, "← " + pt2.compileLabel(prev)), next && h("a", { href: pt2.href(log, "compile", next.slug), rel: "next" }, pt2.compileLabel(next) + " →")),
      h("h1", null, "Compile ", pt2.compileLabel(c), " ", badge(status(c))), placeOf(L, i) && h("p.lead", null, pt2.where(placeOf(L, i), true)),
      brothers.length > 1 && h("p", null, h("span.dim", null, "This frame: "), chips(log, brothers.map(b => b.index), 24))),
      h("div.factrow", null, facts.map(([k, v]) => h("div", { }, h("span.t", null, k), h("span.v", null, v)))),
      pt2.provenanceLink(log, null, i) && h("p.tip", null, pt2.provenanceLink(log, null, i), ": the graphs of this compilation and its generated code, linked line by line."),
      pt2.graphLinks && pt2.graphLinks(log, c),
      later ? h("p.tip", null, "This attempt was abandoned; the analysis restarted as ", pt2.compileLink(log, later), ".") : null,
      fails.length || c.fail_type ? section("Failure", null, (fails.length ? fails : [{ type: c.fail_type, reason: c.fail_reason, compile_id: i }]).map(f => failure(log, f, true))) : null,
      re.length ? section("Why it was recompiled", re.length, recompileTable(log, re, false)) : null,
      c.restarts.length ? section("Restarts", c.restarts.length, c.restarts.map(r => h("div.item.warn", null, folded(r, "reason")))) : null,
      breaks.length ? section("Graph breaks", breaks.length, breakGroups(log, breaks)) : null,
      skips.length ? section("CUDA graphs skipped", skips.length, skips.map(s => h("div.item.warn", null, folded(s.reason, "reason")))) : null,
      syms.length ? section("Symbols", syms.length, symbolTable(log, syms)) : null,
      spec.length ? section("Specializations", spec.length, specTable(log, spec)) : null,
      section("Artifacts", c.owns.length, c.owns.length ? [h("p.note", null, pt2.bytes(total) + ". ", h("a", { href: pt2.href(log, "artifacts", pt2.compileLabel(c)) }, "Search these")), arts.el] : empty("None.")),
      stack.length ? section("Stack", null, h("div.trie", null, stack.map(f => h("div.tleaf", null, pt2.where(f, true))))) : null,
      section("Metrics", null, metrics));
    pt2.metricsOf(log, i, metrics);
    return view;
  };

  // ---- failures, restarts, CUDA graphs -------------------------------------------------------------------------

  function failure(log, f, here) {
    return h("div.item.bad", null, h("div.bar", null, h("b", null, f.type || "error"), !here && pt2.compileLink(log, f.compile_id), h("span.grow"), line(f.line)),
      f.location && h("p", null, pt2.where(f.location, true)), cure(told(doc.logs[log], ["failure", "known"], f.location, (doc.logs[log].compile_ids[f.compile_id] || {}).label)), f.reason && folded(f.reason, "reason"));
  }
  views.failures = function (log) {
    const L = doc.logs[log], again = L.compile_ids.filter(c => c.restarts.length), tries = L.compile_ids.filter(c => c.attempt > 0);
    return h("div.view", null, head("Failures and restarts", "A restart analyses a frame again, usually because of a graph break or a specialization."),
      section("Failures", L.failures.length, L.failures.length ? some(L.failures, f => failure(log, f)) : empty("No compilation failed.")),
      section("Restarts", again.length ? again.reduce((n, c) => n + c.restarts.length, 0) : tries.length,
        again.length ? some(again, c => h("div.item.warn", null, h("div.bar", null, pt2.compileLink(log, c), c.location && pt2.where(c.location)), c.restarts.map(r => folded(r, "reason"))))
          : tries.length ? [h("p.note", null, "The log has no reasons."), chips(log, tries.map(c => c.index), 60)] : empty("No restarts.")),
      section("CUDA graphs skipped", L.cudagraph_skips.length, L.cudagraph_skips.length ? some(L.cudagraph_skips, s => h("div.item.warn", null, h("div.bar", null, pt2.compileLink(log, s.compile_id)), folded(s.reason, "reason"))) : empty("None recorded.")));
  };

  // ---- graph breaks ------------------------------------------------------------------------------------------

  const breakKey = b => b.location ? b.location.file + ":" + b.location.line : "?";
  function breakGroups(log, list) {
    const groups = groupBy(list, breakKey).sort((a, b) => b[1].length - a[1].length);
    return some(groups, ([, at]) => h("div.item.warn", null,
      h("div.bar", null, pt2.where(at[0].location), h("span.grow"), at.length > 1 && h("span.n", null, pt2.plural(at.length, "break"))),
      cure(told(doc.logs[log], ["graph-break"], at[0].location)),
      at[0].location && at[0].location.code && codeLine(at[0].location.code),
      groupBy(at, b => b.reason + "\0" + b.context).map(([, same]) => oneBreak(log, same))), 40);
  }
  function oneBreak(log, same) {
    const b = same[0];
    return h("div.break", null, h("h3", null, b.reason || "reason not recorded", " ", b.gb && (b.url ? pt2.external(b.url, b.gb) : h("span.dim", null, b.gb))),
      b.explanation && h("p", null, b.explanation),
      b.hints && b.hints.length ? h("ul.hints", null, [...new Set(b.hints)].map(x => h("li", null, x))) : null,
      b.context && h("p.ctx", null, h("span.dim", null, "Context "), h("code", null, b.context)),
      h("p.meta", null, chips(log, [...new Set(same.map(x => x.compile_id))]), " ", b.artifact != null && b.source !== "restart" ? artifactLink(log, b.artifact, "full text") : h("span.dim", null, "known only from a restart"), " ", line(b.line)));
  }
  views.breaks = function (log) {
    const L = doc.logs[log], n = new Set(L.graph_breaks.map(breakKey)).size;
    return h("div.view", null, head("Graph breaks", L.graph_breaks.length ? pt2.plural(L.graph_breaks.length, "break") + " at " + pt2.plural(n, "line") + " of user code, the most frequent first." : null),
      L.graph_breaks.length ? breakGroups(log, L.graph_breaks) : empty("No graph breaks were recorded."));
  };

  // ---- recompiles --------------------------------------------------------------------------------------------

  // Old and new value have their own columns.
  const bare = r => { const s = String(r.guard || r.reason || ""); return r.old != null && r.new != null ? s.replace(/[.,]? expected .*, actual .*$/, "") : s; };
  function recompileTable(log, list, link = true) {
    return h("div.scroll", null, h("table", null, h("thead", null, h("tr", null, link && h("th", null, "Compile"), h("th", null, "Failed guard"), h("th", null, "Old"), h("th"), h("th", null, "New"), h("th", null, "Where"), h("th"))),
      h("tbody", null, list.map((r, i) => h("tr", null, link && h("td", null, i && list[i - 1].compile_id === r.compile_id ? "" : pt2.compileLink(log, r.compile_id)), h("td.wide", { title: r.reason }, pt2.codeSpan(bare(r))),
        h("td", null, r.old == null ? "" : h("code.old", null, r.old)), h("td.dim", null, r.old == null && r.new == null ? "" : "→"), h("td", null, r.new == null ? "" : h("code.new", null, r.new)),
        h("td", null, r.location ? pt2.where(r.location, true) : ""), h("td", null, artifactLink(log, r.artifact, "text")))))));
  }
  views.recompiles = function (log) {
    const L = doc.logs[log], groups = groupBy(L.recompiles, r => frameOf(L, r.compile_id)).sort((a, b) => b[1].length - a[1].length);
    return h("div.view", null, head("Recompiles", L.recompiles.length ? "By frame. A compilation compared with several older ones has a row for each." : null),
      groups.length ? some(groups, ([id, list]) => {
        const at = placeOf(L, list[0].compile_id), n = new Set(family(L, id).map(x => x.id)).size;
        return section(at ? pt2.where(at) : "frame " + id, null,
          h("p.note", null, "Frame " + String(id).split("~")[0] + ", " + pt2.plural(n, "compilation") + (n > 8 ? ", more than the default recompile_limit of 8." : n === 8 ? ", the default recompile_limit." : ".")),
          cure(told(L, ["recompile", "recompile-limit"], at)),
          some(chunk(list, 200), part => recompileTable(log, part), 1));
      }, 30) : empty((L.summary || {}).recompiles ? "The log has no reasons for its recompiles." : "Nothing was recompiled."));
  };
  const chunk = (list, n) => { const out = []; for (let i = 0; i < list.length; i += n) out.push(list.slice(i, i + n)); return out; };

  // ---- symbols -----------------------------------------------------------------------------------------------

  function symbolTable(log, rows) {
    const L = doc.logs[log], fixed = new Map();
    for (const s of L.specializations) fixed.set(s.compile_id + " " + s.symbol, s.value);
    return pt2.table({
      label: "Symbols", rows, height: 30, columns: [
        { title: "Symbol", width: "96px", cell: s => [h("code", null, s.symbol), s.unbacked && h("small.dim", null, " unbacked")], sort: s => s.symbol },
        { title: "Compile", width: "84px", cell: s => pt2.compileLink(log, s.compile_id), sort: s => s.compile_id },
        { title: "Source", width: "minmax(170px, 2fr)", cell: s => s.source ? h("code", { title: s.source }, s.source) : "–", sort: s => s.source },
        { title: "Value", width: "90px", num: true, cell: s => s.value == null ? "–" : String(s.value), sort: s => isFinite(+s.value) ? +s.value : s.value },
        { title: "Range", width: "minmax(100px, 1fr)", cell: s => s.range || "–", sort: s => s.range },
        { title: "Specialized to", width: "90px", cell: s => { const v = fixed.get(s.compile_id + " " + s.symbol); return v == null ? "–" : h("span.warn", null, v); } },
        { title: "User line", width: "minmax(220px, 3fr)", cell: s => s.location ? h("span", null, pt2.where(s.location), " ", s.location.code && pt2.codeSpan(s.location.code)) : "–", sort: s => s.location ? place(s.location) : "" },
      ],
    }).el;
  }
  function specTable(log, rows) {
    return pt2.table({
      label: "Specializations", rows, columns: [
        { title: "Symbol", width: "90px", cell: s => h("code", null, s.symbol), sort: s => s.symbol },
        { title: "Compile", width: "84px", cell: s => pt2.compileLink(log, s.compile_id), sort: s => s.compile_id },
        { title: "Became", width: "90px", num: true, cell: s => String(s.value), sort: s => s.value },
        { title: "Sources", width: "minmax(160px, 2fr)", cell: s => (s.sources || []).join(", "), sort: s => (s.sources || []).join() },
        { title: "Reason", width: "minmax(160px, 2fr)", cell: s => s.reason || "–", sort: s => s.reason },
        { title: "User line", width: "minmax(200px, 2fr)", cell: s => s.location ? pt2.where(s.location) : "–", sort: s => s.location ? place(s.location) : "" },
      ],
    }).el;
  }
  views.symbols = function (log) {
    const L = doc.logs[log];
    return h("div.view", null, head("Symbols", "Sizes that Dynamo made symbolic: where each comes from, its range, and whether it was specialized."),
      section("Symbols", L.symbols.length, L.symbols.length ? symbolTable(log, L.symbols) : empty("No symbols: every shape was static.")),
      section("Specializations", L.specializations.length, L.specializations.length ? specTable(log, L.specializations) : empty("No symbol was specialized.")));
  };

  views.timeline = function (log) {
    const place = h("div.tl");
    const el = h("div.view", null, head("Timeline", "What torch.compile did and when, from its chromium events."), place);
    el.ready = pt2.timeline(log, place).then(t => { pt2.currentTimeline = t; });
    return el;
  };
})();
