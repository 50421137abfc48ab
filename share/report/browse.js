// What is searched rather than read: artifacts, metrics, configurations, other records.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc, views = pt2.views;
  const { section, empty, head } = pt2.parts;

  // ---- artifacts ---------------------------------------------------------------------------------------------

  const mark = name => { const m = pt2.cacheMark(name); return m ? h("span.mark.m-" + m, null, m) : null; };
  const KEYED = new Set(["artifact", "", "graph_dump"]);
  // "artifact" carries no information, so only its name is shown; other keys come first: inductor_output_code cabc….py
  const named = a => KEYED.has(a.key) || a.key === a.name ? pt2.shortName(a.name) : [a.key + " ", h("small", null, pt2.shortName(a.name).replace(a.key + "_", ""))];
  // Too long for its column, a name loses its middle: …_at_9_ORIGINAL_BYTECODE and …_at_9_MODIFIED_BYTECODE stay apart.
  const middle = s => typeof s !== "string" || s.length < 28 ? s : [h("span.cut", null, s.slice(0, -16)), h("span.tail", null, s.slice(-16))];
  pt2.artifactColumns = function (log, alone) {
    const C = doc.logs[log].compile_ids;
    const cols = [
      { title: "Name", width: "minmax(150px, 1fr)", sort: a => a.name, cell: a => h("span.aname", null, h("a", { href: pt2.href(log, "artifact", a.i), tabindex: "-1", title: a.name + (KEYED.has(a.key) || a.key === a.name ? "" : "\n" + a.key) },
        middle(named(a))), mark(a.name)) },
      { title: "Nodes", width: "60px", num: true, cell: a => a.nodes < 0 ? "" : pt2.num(a.nodes), sort: a => a.nodes < 0 ? null : a.nodes },
      { title: "Size", width: "68px", num: true, cell: a => a.size || !/metrics/.test(a.key) ? pt2.bytes(a.size) : "", sort: a => a.size },
      { title: "Time", width: "78px", num: true, tip: "Since the log's start", cell: a => a.t == null || a.t < 0 ? "" : pt2.secs(a.t), sort: a => a.t },
    ];
    if (!alone) cols.splice(1, 0, { title: "Compile", width: "66px", cell: a => C[a.compile] ? pt2.compileLink(log, a.compile) : h("span.dim", null, "–"), sort: a => a.compile });
    return cols;
  };

  // Names, keys and compile ids in lower case, to search in: made once a log.
  function hay(log) {
    const L = doc.logs[log];
    if (!L.hay) {
      const low = s => String(s || "").toLowerCase(), keys = L.keys.map(k => String(k).toLowerCase()), ids = L.compile_ids.map(c => pt2.compileLabel(c).toLowerCase()), a = L.artifacts;
      L.hay = a.line.map((_, i) => low(a.name[i]) + " " + low(a.subgraph && a.subgraph[i]) + " " + (keys[a.key[i]] || "") + " " + (ids[a.compile_id[i]] || ""));
    }
    return L.hay;
  }
  function matches(log, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), out = [];
    hay(log).forEach((s, i) => { if (words.every(w => /^[\d-]+\/[\d_]+$/.test(w) ? (" " + s + " ").includes(" " + w + " ") || s.endsWith(w) || s.includes(" " + w + "_") : s.includes(w))) out.push(i); });
    return out;
  }

  let finder = null;          // the artifacts view that is shown, for the hooks
  function artifacts(log) {
    const L = doc.logs[log], all = L.artifacts.line.length, closed = new Set();
    let shown = null, counts = null, run = null, chosen = -1, token = 0;
    const box = pt2.searchBox("Name, key or compile id", () => { drop(); filter(); }, { onkeydown: e => { if (e.key === "Enter") { e.preventDefault(); inside(); } } });
    const deep = h("button", { type: "button", title: "Search the text of every artifact (Enter)", onclick: inside }, "Search inside");
    const note = h("p.note", { role: "status" });
    const grouped = h("input", { type: "checkbox", checked: true, onchange: () => { if (grouped.checked) table.unsort(); filter(); } });
    const foldAll = h("button.link", { type: "button", onclick: () => {
      if (closed.size) closed.clear();
      else for (const i of shown) closed.add(L.artifacts.compile_id[i]);
      fill();
    } }, "Fold all");
    const right = h("div.reader"), none = h("div.hollow", null, h("p", null, all ? "Choose an artifact." : "This log has no artifacts."));
    const flat = pt2.artifactColumns(log), inGroups = pt2.artifactColumns(log, true);      // a group's heading has the compile id
    const table = pt2.table({
      label: "Artifacts", rows: [], height: 28, columns: inGroups, open: a => { location.hash = pt2.href(log, "artifact", a.i); },
      custom: r => r.group == null ? null : groupRow(r), onsort: i => { if (i >= 0 && grouped.checked) { grouped.checked = false; } fill(); },
    });
    // A head is a row: its compile id, how many artifacts, how large.
    function groupRow(g) {
      const c = L.compile_ids[g.group], l = pt2.placeOf(L, g.group), open = !closed.has(g.group);
      return h("div.tr.group" + (open ? "" : ".shut"), { "aria-expanded": String(open), onclick: e => { if (e.target.closest("a")) return; open ? closed.add(g.group) : closed.delete(g.group); fill(); } },
        h("div.td.span", { role: "cell" }, h("span.tri", { "aria-hidden": "true" }), c && !c.none ? pt2.compileLink(log, g.group) : h("b", null, "No compile id"),
          h("span.dim.cut", null, l ? " " + (l.function || "") + " " + pt2.baseName(l.file) + ":" + l.line : ""), h("span.grow"), h("span.dim", null, pt2.plural(g.count, "artifact") + ", " + pt2.bytes(g.size))));
    }
    function fill() {
      const a = L.artifacts;
      foldAll.hidden = !grouped.checked;
      foldAll.textContent = closed.size ? "Unfold all" : "Fold all";
      if (!grouped.checked) { table.set(shown.map(i => pt2.artifact(log, i)), flat); return; }
      const groups = new Map();
      for (const i of shown) { const g = groups.get(a.compile_id[i]); if (g) g.push(i); else groups.set(a.compile_id[i], [i]); }
      const rows = [];
      for (const [c, list] of groups) {
        rows.push({ group: c, count: list.length, size: list.reduce((s, i) => s + a.size[i], 0) });
        if (!closed.has(c)) for (const i of list) rows.push(pt2.artifact(log, i));
      }
      table.set(rows, inGroups);
    }
    function filter() {
      shown = counts ? [...counts.keys()].sort((x, y) => x - y) : matches(log, box.value);
      deep.hidden = !box.value.trim();
      if (!run) note.textContent = counts ? "Found inside " + pt2.plural(counts.size, "artifact") + "." : box.value ? pt2.plural(shown.length, "artifact") + " of " + pt2.num(all) : pt2.plural(all, "artifact");
      fill();
      return shown.length;
    }
    function drop() { if (run) run.stop = true; run = null; counts = null; deep.textContent = "Search inside"; }

    // Through every payload, block by block; artifacts that share a payload share the answer.
    async function inside() {
      const q = box.value.trim();
      if (run) { run.stop = true; return; }
      if (!q) return;
      const mine = run = { stop: false }, a = L.artifacts, byBlock = new Map(), re = pt2.matcher(q);
      for (let i = 0; i < all; i++) if (a.block[i] >= 0 && a.size[i]) { const l = byBlock.get(a.block[i]); if (l) l.push(i); else byBlock.set(a.block[i], [i]); }
      counts = new Map();
      deep.textContent = "Cancel";
      let done = 0, drawn = performance.now(), slice = drawn;
      try {
        for (const [b, list] of byBlock) {
          const bytes = await pt2.block("p" + b), seen = new Map();
          for (const i of list) {
            if (mine.stop) break;
            const key = a.offset[i] + " " + a.size[i];
            if (!seen.has(key)) { re.lastIndex = 0; seen.set(key, re.test(pt2.decode(bytes.subarray(a.offset[i], a.offset[i] + a.size[i])))); }
            if (seen.get(key)) counts.set(i, 1);
            if (performance.now() - slice > 40) { await pt2.pause(); slice = performance.now(); }
          }
          if (mine.stop) break;
          done++;
          note.textContent = "Searching… " + Math.floor(done / byBlock.size * 100) + "%, found inside " + pt2.num(counts.size);
          if (performance.now() - drawn > 400) { drawn = performance.now(); filter(); }
          await pt2.pause();
        }
      } catch (e) { note.textContent = e.message; mine.failed = e; }
      if (run !== mine) return;
      run = null;
      deep.textContent = "Search inside";
      if (!mine.failed) filter();
      if (mine.stop) note.textContent = "Stopped: found inside " + pt2.plural(counts.size, "artifact") + " so far.";
    }

    async function open(i) {
      const mine = ++token;
      chosen = i;
      el.classList.toggle("reading", i >= 0);
      if (i < 0 || i >= all) { right.replaceChildren(i < 0 ? none : empty("This log has no artifact " + i + ".")); return ""; }
      const a = pt2.artifact(log, i), c = L.compile_ids[a.compile];
      const title = h("div.atitle", null, h("a.back", { href: pt2.href(log, "artifacts") }, "← All"), h("h2", { title: a.name }, named(a)), mark(a.name),
        h("span.dim", null, [a.nodes >= 0 ? pt2.plural(a.nodes, "node") : null, pt2.bytes(a.size), "log line " + a.line, a.number >= 0 ? "file number " + a.number : null].filter(Boolean).join("  ·  ")),
        c && pt2.compileLink(log, a.compile), pt2.provenanceLink(log, i), pt2.graphLink && pt2.graphLink(log, i));
      right.replaceChildren(title, h("p.working", { role: "status" }, "Unpacking…"));
      mark2();
      let bytes, text;
      try { bytes = await pt2.payload(log, i); text = pt2.decode(bytes); } catch (e) {
        if (mine === token) right.replaceChildren(title, h("p.problem", { role: "alert" }, e.message));
        throw e;
      }
      if (mine !== token) return text;
      if (!a.size) {          // metrics are numbered among the artifacts, but are read elsewhere
        const metrics = /metrics/.test(a.key) && c && !c.none;
        right.replaceChildren(title, metrics ? h("p.empty", null, h("a", { href: pt2.href(log, "metrics", c.slug) }, "The metrics of " + pt2.compileLabel(c))) : empty("The payload is empty."));
        return text;
      }
      const lang = pt2.guessLang(a, text), guards = guardViews(log, a, text, lang);
      const v = pt2.viewer({ text, bytes, lang, name: a.name, views: guards });
      right.replaceChildren(title, v.el);
      v.draw();
      if (counts && box.value) { v.find.value = box.value.trim(); v.find.dispatchEvent(new Event("input")); }
      return text;
    }
    function mark2() {
      table.list.each((k, el) => el.classList.toggle("on", !!el.querySelector('a[href="' + pt2.href(log, "artifact", chosen) + '"]')));
    }
    const el = h("div.split", null, h("h1.sr", null, "Artifacts"), h("div.finder", null, h("div.bar", null, box, deep), h("div.bar.small", null, note, h("span.grow"), foldAll, h("label", null, grouped, " by compile id")), table.el), right);
    right.append(none);
    new MutationObserver(mark2).observe(table.list.space, { childList: true });
    filter();
    el.filter = text => { if (box.value !== text) { drop(); box.value = text; } return filter(); };
    el.open = i => {
      const p = open(i);
      if (i >= 0) {
        const g = L.artifacts.compile_id[i];
        if (grouped.checked && closed.has(g)) { closed.delete(g); fill(); }
        requestAnimationFrame(() => table.reveal(r => r.i === i));
      }
      return p;
    };
    el.search = box;
    return el;
  }
  views.artifacts = function (log, query) {
    const el = artifacts(log);
    finder = el;
    el.again = q => { finder = el; if (q != null) el.filter(q); };
    el.again(query);
    return el;
  };

  // ---- guards ------------------------------------------------------------------------------------------------

  function guardViews(log, a, text, lang) {
    if (a.key === "dynamo_guards" || a.name === "dynamo_guards") {
      let list;
      try { list = JSON.parse(text); } catch (e) { return null; }
      if (!Array.isArray(list)) return null;
      const rows = list.map(g => {
        const f = g && (g.user_stack || g.stack), last = Array.isArray(f) && f[f.length - 1];
        return { type: "", text: typeof g === "string" ? g : String((g && g.code) || ""), group: "", from: last ? { file: fileOf(log, last.filename), line: last.line, function: last.name, code: last.loc } : null };
      });
      return { Guards: () => guardTable(rows) };
    }
    if (lang !== "guards") return null;
    const rows = cppGuards(text);
    return rows.length ? { Guards: () => guardTable(rows) } : null;
  }
  // Records name files by their number in the log's string table.
  const fileOf = (log, f) => { const s = doc.logs[log].strings; return typeof f === "string" ? f : (s && s[f]) || "file " + f; };

  // The tree of C++ guards as rows: managers name the value, leaves what is checked.
  function cppGuards(text) {
    const rows = [], path = [];
    let last = null;
    for (const s of text.split("\n")) {
      const m = /^((?:\| )*)\+- (.*)$/.exec(s);
      if (!m) { if (last && s.trim() && !/^TREE_GUARD_MANAGER/.test(s)) last.text += "\n" + s.replace(/^(\| )+/, ""); continue; }
      const depth = m[1].length / 2, leaf = /^([A-Z][A-Z0-9_]+): ?(.*)$/.exec(m[2]);
      if (!leaf) {
        const source = /source=(.*?), accessed_by=/.exec(m[2]), type = /type=<class '([^']*)'>/.exec(m[2]);
        path.length = depth;
        path[depth] = source ? { name: source[1], type: type ? type[1] : "" } : { name: m[2].replace(/[:(].*/, ""), type: "" };
        last = null;
        continue;
      }
      const parts = leaf[2].split(/\s{2,}# /), g = path.slice(0, depth).reverse().find(Boolean) || { name: "", type: "" };
      last = { type: leaf[1], text: parts[0].trimEnd(), group: g.name, of: g.type, why: parts.slice(1).join("   ") };
      rows.push(last);
    }
    return rows;
  }
  function guardTable(rows) {
    const types = pt2.groupBy(rows, r => r.type).sort((a, b) => b[1].length - a[1].length);
    let want = null;
    const body = h("div.glist");
    const box = pt2.searchBox("Filter guards", draw);
    const bar = h("div.bar.chipsbar", null, box, types.length > 1 && types.map(([t, l]) => h("button.chip", { type: "button", "data-t": t, "aria-pressed": "false", onclick: () => { want = want === t ? null : t; draw(); } }, t.toLowerCase().replace(/_/g, " "), h("small", null, l.length))));
    function draw() {
      for (const b of bar.querySelectorAll(".chip")) b.setAttribute("aria-pressed", String(b.dataset.t === want));
      const q = box.value.toLowerCase();
      const list = rows.filter(r => (want == null || r.type === want) && (!q || (r.group + " " + r.type + " " + r.text + " " + (r.why || "")).toLowerCase().includes(q)));
      body.replaceChildren(list.length ? pt2.some(pt2.groupBy(list, r => r.group), ([g, l]) => h("div.gset", null,
        g && h("h3", null, pt2.codeSpan(g), l[0].of && h("span.dim", null, " " + l[0].of)),
        pt2.some(l, r => h("div.guard", null, r.type && h("span.gtype", null, r.type.toLowerCase().replace(/_/g, " ")), h("span.gtext", null, pt2.codeSpan(r.text),
          r.why && h("span.why", null, r.why), r.from && h("span.why", null, pt2.where(r.from)))), 300)), 150) : empty("No guard matches."));
    }
    draw();
    return h("div.guards", null, bar, body);
  }

  // ---- metrics -----------------------------------------------------------------------------------------------

  const unit = k => /(^|_)(start|end)_time(_us)?$/.test(k) ? (k.endsWith("_us") ? "µs since 1970" : "s since 1970") : /_us$/.test(k) ? "µs" : /_ms$/.test(k) ? "ms" : /_ns$/.test(k) ? "ns" : /(_time|_overhead|_latency|_saved|before_restart)_s$|_s$/.test(k) ? "s" : /_bytes$/.test(k) ? "bytes" : "";
  const isTime = k => ["µs", "ms", "s", "ns"].includes(unit(k));
  const SCALE = { "µs": 1e-6, ms: 1e-3, s: 1, ns: 1e-9 };
  const isNum = raw => raw !== "" && /^-?\d/.test(raw);
  // A value as it is read: times in a fitting unit, the log's own digits behind the pointer.
  function show(k, raw, plain) {
    if (raw == null || raw === "null") return h("span.dim", null, "–");
    if (isNum(raw)) {
      const u = unit(k), x = Number(raw);
      if (/1970/.test(u)) { const d = new Date(u[0] === "µ" ? x / 1e3 : x * 1e3); return h("span", { title: raw + " " + u }, isNaN(d) ? raw : d.toISOString().replace("T", " ").replace("Z", " UTC")); }
      if (u === "bytes") return h("span", { title: raw + " bytes" }, pt2.bytes(x));
      if (SCALE[u]) return h("span" + (x ? "" : ".dim"), { title: raw + " " + u }, pt2.secs(x * SCALE[u]));
      return h("span" + (x ? "" : ".dim"), { title: raw }, /^-?\d+$/.test(raw) && raw.length < 16 ? pt2.num(x) : raw);
    }
    if (raw === "true" || raw === "false") return h("span" + (raw === "false" ? ".dim" : ""), null, raw);
    const text = pt2.unquote(raw);
    if (text === "[]" || text === "{}" || text === "") return h("span.dim", null, text || "empty");
    const nested = /^[[{]/.test(text);
    if (!nested && text.length <= (plain ? 160 : 48) && !text.includes("\n")) return text;
    const n = nested && text.length < 4e5 ? pt2.members(text).length : 0;
    return h("button.link", { type: "button", title: "Open", onclick: () => pt2.dialog(k, text, nested ? "json" : "log") },
      nested && n ? (text[0] === "[" ? "[" + pt2.plural(n, "item") + "]" : "{" + pt2.plural(n, "key") + "}") : text.slice(0, 44).replace(/\s+/g, " ") + (text.length > 44 ? "…" : ""));
  }
  const sortable = raw => raw == null || raw === "null" ? null : isNum(raw) ? Number(raw) : pt2.unquote(raw);
  const MAIN = ["co_name", "duration_us", "entire_frame_compile_time_s", "backend_compile_time_s", "inductor_compile_time_s", "code_gen_time_s", "graph_op_count", "graph_node_count", "guard_count",
    "guard_latency_us", "num_graph_breaks", "cache_size", "fail_type", "recompile_reason", "cudagraph_skip_reason"];

  function filling(host, work) {
    const p = pt2.progress("Reading… ");
    host.append(p.el);
    return work(p.progress).finally(() => p.el.remove()).catch(e => { host.append(h("p.problem", { role: "alert" }, e.message)); });
  }
  // All metrics of one compile id, a row each and a column for each of its records.
  function transposed(log, rows) {
    const keys = [], have = new Set();
    for (const r of rows) for (const k of r.m.keys()) if (!have.has(k)) { have.add(k); keys.push(k); }
    const hide = h("input", { type: "checkbox", checked: true, onchange: draw });
    const box = pt2.searchBox("Filter metrics", draw);
    const body = h("tbody"), n = h("span.dim");
    function draw() {
      const q = box.value.toLowerCase(), list = keys.filter(k => (!q || k.toLowerCase().includes(q)) && (!hide.checked || rows.some(r => r.m.has(k) && r.m.get(k) !== "null")));
      n.textContent = list.length + " of " + keys.length + " keys";
      body.replaceChildren(...list.map(k => h("tr", null, h("th", { scope: "row" }, h("code", null, k)), h("td.unit", null, unit(k).replace(" since 1970", "")), rows.map(r => {
        const raw = r.m.get(k);
        return h("td", null, show(k, raw, true), raw && isNum(raw) && SCALE[unit(k)] && Number(raw) ? h("span.raw", null, raw) : null);
      }))));
    }
    draw();
    return h("div", null, h("div.bar", null, box, h("label", null, hide, " hide empty"), n), h("div.scroll", null, h("table.facts2", null, h("thead", null, h("tr", null, h("th", null, "Metric"), h("th", null, "Unit"), rows.map(r => h("th", null, r.key, h("small.dim", null, " line " + r.line))))), body)));
  }
  pt2.metricsOf = function (log, i, host) {
    return filling(host, async progress => {
      const rows = (await pt2.metrics(progress)).filter(r => r.log === log && r.compile === i);
      host.append(rows.length ? transposed(log, rows) : empty("The log has no compilation_metrics for this compile id."));
    });
  };

  views.metrics = function (log, slug) {
    const L = doc.logs[log], host = h("div"), title = head("Compilation metrics", "Every key torch logged. Times are shown in a readable unit; hover for the logged value.");
    const el = h("div.view", null, title, host);
    el.ready = filling(host, async progress => {
      const rows = (await pt2.metrics(progress)).filter(r => r.log === log);
      if (!rows.length) { host.append(empty("The log has no compilation metrics.")); return; }
      if (slug) {
        const c = L.compile_ids[L.slugs.get(slug)];
        host.append(h("div.bar", null, h("a", { href: pt2.href(log, "metrics") }, "← All compilations"), c && pt2.compileLink(log, c)), transposed(log, rows.filter(r => c && r.compile === c.index)));
        return;
      }
      host.append(metricTable(log, rows));
    });
    return el;
  };
  function metricTable(log, all) {
    const L = doc.logs[log], keys = [], filled = new Map();
    for (const r of all) for (const [k, v] of r.m) { if (!filled.has(k)) { filled.set(k, 0); keys.push(k); } if (v !== "null") filled.set(k, filled.get(k) + 1); }
    const kinds = [...new Set(all.map(r => r.key))];
    const sets = {
      Main: k => MAIN.includes(k), Times: k => isTime(k) && filled.get(k), Counts: k => /count|num_|numel|_bytes$/.test(k) && !/cache_/.test(k) && filled.get(k), Caches: k => /cache|pgo/.test(k) && filled.get(k),
      Filled: k => filled.get(k) && k !== "compile_id", All: () => true,
    };
    let chosen = new Set(keys.filter(sets.Main)), kind = "", preset = "Main";
    const c = r => L.compile_ids[r.compile];
    function columns() {
      const cols = [{ title: "Compile", width: "84px", cell: r => c(r) ? h("a.cid.st-" + (c(r).status || "missing"), { href: pt2.href(log, "metrics", c(r).slug), title: "All metrics of this compile id" }, pt2.compileLabel(c(r))) : "–", sort: r => c(r) ? pt2.compileLabel(c(r)) : "" }];
      if (kinds.length > 1) cols.push({ title: "Record", width: "190px", cell: r => r.key, sort: r => r.key });
      const order = preset === "Main" ? MAIN.filter(k => chosen.has(k)) : keys.filter(k => chosen.has(k));
      for (const k of order) {
        const num = all.some(r => { const v = r.m.get(k); return v && isNum(v); });
        cols.push({ title: k, unit: unit(k).replace(" since 1970", ""), num, width: Math.max(num ? 96 : 130, k.length * 7.3 + 34) + "px", cell: r => show(k, r.m.get(k)), sort: r => sortable(r.m.get(k)) });
      }
      return cols;
    }
    const table = pt2.table({ label: "Compilation metrics", rows: all, columns: columns() });
    const summary = h("summary"), boxes = h("div.boxes"), pick = pt2.searchBox("Filter columns", list);
    function list() {
      const q = pick.value.toLowerCase();
      boxes.replaceChildren(...keys.filter(k => !q || k.toLowerCase().includes(q)).map(k => h("label" + (filled.get(k) ? "" : ".dim"), null,
        h("input", { type: "checkbox", checked: chosen.has(k), onchange: e => { e.target.checked ? chosen.add(k) : chosen.delete(k); preset = ""; apply(); } }), " " + k, h("small.dim", null, " " + unit(k).replace(" since 1970", "")))));
    }
    const seg = h("span.seg", { role: "group", "aria-label": "Columns" }, Object.keys(sets).map(s => h("button", { type: "button", "data-s": s, onclick: () => { preset = s; chosen = new Set(keys.filter(sets[s])); apply(); list(); } }, s)));
    function apply() {
      for (const b of seg.children) b.setAttribute("aria-pressed", String(b.dataset.s === preset));
      summary.textContent = "Columns: " + chosen.size + " of " + keys.length;
      table.set(all.filter(r => !kind || r.key === kind), columns());
    }
    const select = kinds.length > 1 ? h("select", { "aria-label": "Kind of record", onchange: e => { kind = e.target.value; apply(); } }, h("option", { value: "" }, "all records"), kinds.map(k => h("option", { value: k }, k))) : null;
    const picker = h("details.picker", null, summary, h("div.pop", null, pick, boxes));
    document.addEventListener("click", e => { if (picker.open && !picker.contains(e.target)) picker.open = false; });
    list();
    apply();
    return h("div", null, h("div.bar", null, seg, picker, select, h("span.grow"), h("span.dim", null, pt2.plural(all.length, "record"))), table.el);
  }

  // ---- configurations ----------------------------------------------------------------------------------------

  // variants: [{members: Map, ids: [compile index…]}]: the keys that differ, or all, with each value and who had it.
  // bar holds what is asked of every comparison on the page: bar.text, bar.all; bar.draw are redrawn when it changes.
  function compare(log, variants, what, bar) {
    const keys = [...new Set(variants.flatMap(v => [...v.members.keys()]))], values = k => pt2.groupBy(variants, v => v.members.get(k));
    const differ = keys.filter(k => values(k).length > 1), n = variants.reduce((a, v) => a + v.ids.length, 0), body = h("div.cfgs");
    const value = (k, raw) => {
      if (raw == null) return h("span.dim", null, "missing");
      const t = pt2.unquote(raw);
      return t.length > 160 || t.includes("\n") ? h("button.link", { type: "button", onclick: () => pt2.dialog(k, t, /^[[{]/.test(t) ? "json" : "py") }, t.slice(0, 100).replace(/\s+/g, " ") + "…") : h("code", null, raw);
    };
    function draw() {
      const q = bar.text, list = (bar.all || q ? keys : differ).filter(k => !q || k.toLowerCase().includes(q) || variants.some(v => (v.members.get(k) || "").toLowerCase().includes(q)));
      body.hidden = !list.length;
      body.replaceChildren(pt2.some(list, k => {
        const vs = values(k);
        return h("div.cfg" + (vs.length > 1 ? ".differs" : ""), null, h("code.key", null, k), h("div.vals", null, vs.map(([raw, who]) => h("div", null, value(k, raw), vs.length > 1 ? pt2.chips(log, who.flatMap(v => v.ids), 8) : null))));
      }, 100));
    }
    bar.draw.push(draw);
    draw();
    return h("div", null, h("p.note", null, differ.length ? h("span.warn", null, pt2.num(differ.length) + " of " + pt2.plural(keys.length, "key") + " " + (differ.length === 1 ? "differs" : "differ") + " among " + pt2.plural(n, what) + ".")
      : n === 1 ? pt2.plural(keys.length, "key") + ", from one " + what + "." : "The same " + pt2.plural(keys.length, "key") + " in all " + pt2.plural(n, what) + "."), body);
  }
  views.config = function (log) {
    const L = doc.logs[log], bar = { text: "", all: false, draw: [] }, redraw = () => { for (const d of bar.draw) d(); };
    const host = h("div", null, h("div.bar", null, pt2.searchBox("Find a key or value", e => { bar.text = e.target.value.trim().toLowerCase(); redraw(); }),
      h("label", null, h("input", { type: "checkbox", onchange: e => { bar.all = e.target.checked; redraw(); } }), " all keys, not only those that differ")));
    const el = h("div.view", null, head("Configurations", "torch's settings, and what changed from one compilation to the next."), host);
    el.ready = filling(host, async progress => {
      const rows = (await pt2.metrics(progress)).filter(r => r.log === log), names = new Set();
      for (const r of rows) for (const k of r.m.keys()) if (/_config$/.test(k)) names.add(k);
      for (const k of [...names].sort()) {
        const groups = pt2.groupBy(rows.filter(r => r.m.has(k) && r.m.get(k) !== "null"), r => r.m.get(k));
        if (!groups.length) continue;
        const variants = groups.map(([raw, list]) => { const t = pt2.unquote(raw); return { ids: [...new Set(list.map(r => r.compile))], members: new Map(/^\s*\{/.test(t) ? pt2.members(t) : [[k, raw]]) }; });
        host.append(section(h("code", null, k), null, compare(log, variants, "compilation", bar)));
      }
      if (!host.querySelector("section")) host.append(empty("No metrics record has a configuration."));
      // The same for artifacts that describe one: the functorch configuration, and what went into cache keys.
      const families = new Map();
      L.artifacts.line.forEach((_, i) => {
        const m = /^(torch\._functorch\.config|(?:fx_graph|aotautograd)_cache_(?:hit|miss|bypass))(?:_\d+)?$/.exec(pt2.artifactName(log, i));
        if (m) { const f = families.get(m[1]); if (f) f.push(i); else families.set(m[1], [i]); }
      });
      for (const [name, list] of families) {
        const out = h("div"), few = list.slice(0, 300);
        const go = h("button", { type: "button", onclick: () => {
          go.remove();
          filling(out, async progress2 => {
            const by = new Map();
            for (let k = 0; k < few.length; k++) {
              const a = pt2.artifact(log, few[k]), key = a.block + " " + a.offset + " " + a.size;
              if (!by.has(key)) by.set(key, { ids: [], members: flatten(await pt2.payloadText(log, few[k])) });
              by.get(key).ids.push(a.compile);
              progress2(k + 1, few.length);
            }
            out.append(compare(log, [...by.values()], "artifact", bar));
          });
        } }, few.length < list.length ? "Compare the first " + few.length : "Compare");
        host.append(section([h("code", null, name), h("span.n", null, pt2.num(list.length))], null, h("div.bar", null, go, h("a", { href: pt2.href(log, "artifacts", name) }, "Open all")), out));
      }
    });
    return el;
  };
  // The members of a JSON text; lists of "[hash] name: value" (what a cache key is made of) become members of their own.
  function flatten(text) {
    const out = new Map();
    for (const [k, raw] of pt2.members(text)) {
      if (k === "compile_id") continue;
      const parts = raw[0] === "[" && /^\[\s*"\[\w+\] /.test(raw) ? pt2.members(raw) : null;
      if (!parts) { out.set(String(k), raw); continue; }
      for (const [, p] of parts) { const m = /^\[(\w+)\] ([^:]{1,120}): ?([^]*)$/.exec(pt2.unquote(p)); if (m) out.set(k + " › " + m[2], m[3]); else out.set(k + " › " + p.slice(0, 60), p); }
    }
    return out;
  }

  // ---- other records -----------------------------------------------------------------------------------------

  views.records = function (log, key) {
    const L = doc.logs[log], host = h("div"), el = h("div.view", null, head("Other records", "Every record that is not an artifact, metric or timeline event, as logged."), host);
    el.ready = filling(host, async progress => {
      const all = (await pt2.records(progress)).filter(r => r.log === log);
      if (!all.length) { host.append(empty("None.")); return; }
      const odd = new Set(L.unknown_keys.map(u => u.key)), kinds = pt2.groupBy(all, r => r.key).sort((a, b) => b[1].length - a[1].length);
      let want = kinds.some(([k]) => k === key) ? key : "";
      const open = async r => {
        const c = L.compile_ids[r.compile];
        const text = await pt2.recordText(r), files = [...new Set([...text.matchAll(/"filename": ?(\d+)/g)].map(m => +m[1]))].sort((a, b) => a - b);
        pt2.dialog((r.key || "record") + ", line " + r.line, text, "json", c && pt2.compileLink(log, c),
          L.strings && files.length ? h("details.files", null, h("summary", null, pt2.plural(files.length, "file name")), h("dl.facts", null, files.map(f => [h("dt", null, f), h("dd", null, fileOf(log, f))]))) : null);
      };
      const preview = r => {
        if (r.key === "link") {
          const m = new Map(pt2.members(r.head)), l = new Map(pt2.members(m.get("link") || ""));
          if (l.has("url")) return pt2.external(pt2.unquote(l.get("url")), pt2.unquote(l.get("name") || l.get("url")));
        }
        const m = /^\{\s*"([^"\\]+)":\s*/.exec(r.head);
        return h("code.dim", null, (m && m[1] === r.key ? r.head.slice(m[0].length) : r.head) + (r.size > r.head.length ? "…" : ""));
      };
      const table = pt2.table({
        label: "Other records", rows: all, height: 28, open, columns: [
          { title: "Line", width: "80px", num: true, cell: r => String(r.line), sort: r => r.line },
          { title: "Compile", width: "72px", cell: r => L.compile_ids[r.compile] ? pt2.compileLink(log, r.compile) : h("span.dim", null, "–"), sort: r => r.compile },
          { title: "Key", width: "190px", cell: r => h("span" + (odd.has(r.key) ? ".warn" : ""), null, r.key || "(none)"), sort: r => r.key },
          { title: "Record", width: "minmax(260px, 1fr)", cell: preview },
          { title: "Size", width: "74px", num: true, cell: r => pt2.bytes(r.size), sort: r => r.size },
        ],
      });
      const box = pt2.searchBox("Filter by key and beginning", apply);
      const chips = h("div.bar.chipsbar", null, kinds.slice(0, 40).map(([k, l]) => h("button.chip" + (odd.has(k) ? ".warn" : ""), { type: "button", "data-k": k, onclick: () => { want = want === k ? "" : k; apply(); } }, k || "(none)", h("small", null, pt2.num(l.length)))));
      function apply() {
        const q = box.value.toLowerCase();
        for (const b of chips.children) b.setAttribute("aria-pressed", String(b.dataset.k === want && want !== ""));
        table.set(all.filter(r => (!want || r.key === want) && (!q || (r.key + " " + r.head).toLowerCase().includes(q))));
      }
      apply();
      host.append(h("div.bar", null, box), chips, table.el);
    });
    return el;
  };

  // ---- hooks ---------------------------------------------------------------------------------------------------

  // Opens artifact i of the log shown and resolves to its text once it is on the page.
  pt2.openArtifact = async function (i, log = pt2.log || 0) {
    const p = pt2.go(pt2.href(log, "artifact", i));
    const text = await p;
    await new Promise(done => requestAnimationFrame(() => done()));
    return text;
  };
  // Searches names, keys and compile ids as the box does: the number of artifacts found.
  pt2.search = function (text) {
    pt2.go(pt2.href(pt2.log || 0, "artifacts"));
    return finder.filter(String(text));
  };
})();
