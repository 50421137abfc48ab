/* The page of tlparse --diff. Data is in #model and in blocks d0, d1, ...; all text goes through textContent. */
(function () {
  const { el, count, doc, main } = pt2;
  const kinds = [
    ["versions", "Versions"], ["config", "Configuration"], ["failures", "Failures"], ["graph_breaks", "Graph breaks"],
    ["recompiles", "Recompiles"], ["compiles", "Compilations added and removed"], ["times", "Compile time"], ["cache", "Caches"],
    ["cache_keys", "Cache misses: what changed in the keys"], ["guards", "Guards"], ["symbols", "Symbols"], ["specializations", "Specializations"], ["cudagraph_skips", "CUDA graph skips"],
    ["metrics", "Metrics"], ["artifacts", "Artifacts added and removed"]];
  const bad = new Set(["failures", "graph_breaks", "recompiles", "compiles", "cudagraph_skips"]);
  /* The colour of a tag: more failures are worse, another guard is neither. */
  const shownHow = { new: "added", gone: "removed" }, word = (how) => shownHow[how] || how;
  const tone = (key, how) => key === "artifacts" ? "" : how === "new" && bad.has(key) ? "worse" : how === "gone" && bad.has(key) ? "better" : how;
  let split = false, current = 0;

  const seconds = (s) => s === null || s === undefined ? "" : s >= 100 ? s.toFixed(0) : s >= 1 ? s.toFixed(2) : s.toFixed(3);
  const signed = (s) => (s > 0 ? "+" : s < 0 ? "\u2212" : "") + seconds(Math.abs(s));
  function shortFile(f) {
    const m = /(?:site|dist)-packages\/(.*)$/.exec(f);
    return m ? m[1] : f;
  }
  function where(at) {
    if (!at) return "";
    return shortFile(at.file) + (at.line ? ":" + at.line : "") + (at.function ? " in " + at.function : "");
  }
  const place = (at) => {
    const e = el("span", "", where(at));
    if (at) e.title = at.file + (at.code ? "\n" + at.code : "");
    return e;
  };
  function idText(c) {
    if (!c) return "";
    if (c.before === c.after) return c.after;
    return c.before === null ? c.after : c.after === null ? c.before : c.before + " \u2192 " + c.after;
  }

  /* ---- blocks ---- */

  const blocks = new Map();
  function block(n) {
    if (!blocks.has(n)) {
      const text = atob(document.getElementById("d" + n).textContent);
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      blocks.set(n, new Response(stream).arrayBuffer());
    }
    return blocks.get(n);
  }
  async function textOf(t) {
    const data = await block(t.block);
    return new TextDecoder().decode(new Uint8Array(data, t.offset, t.size));
  }

  /* ---- a value before and after: the differences are marked ---- */

  function parts(a, b) {
    let i = 0, j = 0;
    const max = Math.min(a.length, b.length);
    while (i < max && a[i] === b[i]) i++;
    while (j < max - i && a[a.length - 1 - j] === b[b.length - 1 - j]) j++;
    const word = /[A-Za-z0-9_]/;
    while (i > 0 && word.test(a[i - 1])) i--;
    while (j > 0 && word.test(a[a.length - j])) j--;
    return [i, j];
  }
  function marked(text, i, j, tag) {
    const f = document.createDocumentFragment();
    const mid = text.slice(i, text.length - j);
    f.append(text.slice(0, i));
    if (mid) f.append(el(tag, "", mid));
    f.append(text.slice(text.length - j));
    return f;
  }
  function beforeAfter(a, b) {
    if (a === null || b === null) return [a === null ? "" : a, b === null ? "" : b];
    const [i, j] = parts(a, b);
    /* Nothing in common: marking all of it would not help. */
    if (i + j === 0) return [a, b];
    return [marked(a, i, j, "del"), marked(b, i, j, "ins")];
  }

  /* ---- line diffs ---- */

  function parseDiff(text) {
    const hunks = [];
    let h = null;
    for (const line of text.split("\n")) {
      const m = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line);
      if (m) {
        h = { a: +m[1], b: +m[3], rows: [] };
        hunks.push(h);
      } else if (h && line) {
        h.rows.push([line[0], line.slice(1)]);
      }
    }
    return hunks;
  }
  /* Runs of removed and added lines, side by side as far as they go. */
  function paired(hunk) {
    const rows = [];
    let a = hunk.a, b = hunk.b, i = 0;
    while (i < hunk.rows.length) {
      const [op, text] = hunk.rows[i];
      if (op === " " || op === "~") {
        rows.push({ op, a: a++, b: b++, ta: text, tb: text });
        i++;
        continue;
      }
      const rem = [], add = [];
      while (i < hunk.rows.length && hunk.rows[i][0] === "-") rem.push(hunk.rows[i++][1]);
      while (i < hunk.rows.length && hunk.rows[i][0] === "+") add.push(hunk.rows[i++][1]);
      if (!rem.length && !add.length) i++;
      for (let k = 0; k < Math.max(rem.length, add.length); k++) {
        const r = { op: "*" };
        if (k < rem.length) { r.a = a++; r.ta = rem[k]; }
        if (k < add.length) { r.b = b++; r.tb = add[k]; }
        rows.push(r);
      }
    }
    return rows;
  }
  function lineCells(r) {
    if (r.ta === undefined || r.tb === undefined || r.op !== "*") return [r.ta, r.tb];
    return beforeAfter(r.ta, r.tb);
  }
  function renderDiff(text) {
    const box = el("div", split ? "diff split" : "diff"), table = el("table"), body = el("tbody");
    if (split) {
      const g = el("colgroup");
      for (const c of ["", "half", "", "half"]) {
        const col = el("col", c);
        if (!c) col.style.width = "52px";
        g.append(col);
      }
      table.append(g);
    }
    for (const h of parseDiff(text)) {
      const head = el("tr", "hunk"), cell = el("td", "", "line " + h.a + " \u2192 " + h.b);
      cell.colSpan = split ? 4 : 3;
      head.append(cell);
      body.append(head);
      const rows = paired(h);
      for (let i = 0; i < rows.length; i++) {
        const r = rows[i];
        if (r.op !== "*") {
          const cls = r.op === "~" ? "ren" : "";
          const left = el("td", cls, r.ta), right = el("td", cls, r.tb);
          if (r.op === "~") left.title = right.title = "same except for names; shown as in the second run";
          body.append(split ? el("tr", "", el("td", "ln", r.a), left, el("td", "ln", r.b), right) : el("tr", "", el("td", "ln", r.a), el("td", "ln", r.b), right));
          continue;
        }
        if (split) {
          const [x, y] = lineCells(r);
          body.append(el("tr", "", el("td", "ln", r.a), el("td", r.ta === undefined ? "none" : "rem", x),
            el("td", "ln", r.b), el("td", r.tb === undefined ? "none" : "add", y)));
          continue;
        }
        let e = i;
        while (e < rows.length && rows[e].op === "*") e++;
        const cells = rows.slice(i, e).map(lineCells);
        for (let k = i; k < e; k++)
          if (rows[k].ta !== undefined) body.append(el("tr", "", el("td", "ln", rows[k].a), el("td", "ln"), el("td", "rem", cells[k - i][0])));
        for (let k = i; k < e; k++)
          if (rows[k].tb !== undefined) body.append(el("tr", "", el("td", "ln"), el("td", "ln", rows[k].b), el("td", "add", cells[k - i][1])));
        i = e - 1;
      }
    }
    table.append(body);
    box.append(table);
    return box;
  }

  /* ---- the summary ---- */

  function tiles() {
    const a = doc.before.summary, b = doc.after.summary, box = el("div", "tiles");
    const misses = (s) => Object.values(s.cache).reduce((n, c) => n + c.miss, 0);
    const hits = (s) => Object.values(s.cache).reduce((n, c) => n + c.hit, 0);
    /* worse: 1 when more is worse, -1 when less is, 0 when neither */
    const rows = [["compile seconds", a.compile_seconds, b.compile_seconds, 1, true], ["compiles", a.compiles, b.compiles, 1], ["recompiles", a.recompiles, b.recompiles, 1],
      ["graph breaks", a.graph_breaks, b.graph_breaks, 1], ["failures", a.failures, b.failures, 1], ["restarts", a.restarts, b.restarts, 1],
      ["frames", a.frames, b.frames, 0], ["graphs", a.graphs, b.graphs, 0], ["cache hits", hits(a), hits(b), -1], ["cache misses", misses(a), misses(b), 1],
      ["CUDA graph skips", a.cudagraph_skips, b.cudagraph_skips, 1]];
    for (const [what, x, y, worse, time] of rows) {
      if (!x && !y) continue;
      const noise = time && Math.abs(x - y) < Math.max(0.2, 0.1 * Math.min(x, y));
      const dir = noise ? 0 : Math.sign(y - x) * worse;
      const n = el("div", "n");
      const show = (v) => time ? seconds(v) : v.toLocaleString("en");
      if (x !== y) n.append(el("span", "was", show(x) + " \u2192 "));
      n.append(el("span", "now", show(y)));
      box.append(el("div", "tile" + (dir > 0 ? " worse" : dir < 0 ? " better" : ""), el("div", "what", what), n));
    }
    return box;
  }

  function heading(id, title, n, note) {
    const h = el("h2", "", title, n === null ? null : el("small", "", n.toLocaleString("en")), note ? el("small", "", note) : null);
    h.id = id;
    return h;
  }

  function weight(c) {
    const a = c.before_seconds || 0, b = c.after_seconds || 0;
    if (c.before === null || c.after === null) return b - a;
    return c.timed ? b - a : 0;
  }

  function whatChanged(log, i) {
    const box = el("span");
    for (const [key, title] of kinds) {
      const rows = log[key].filter((r) => r.compile_id === i);
      if (!rows.length) continue;
      const how = rows.every((r) => r.how === rows[0].how) ? rows[0].how : "changed";
      const name = { compiles: word(how), recompiles: "recompile " + word(how), times: how, graph_breaks: "graph break", failures: "failure", cache: "cache", cache_keys: "cache key",
        guards: "guards", symbols: "symbols", specializations: "specializations", cudagraph_skips: "CUDA graph", metrics: "metrics", artifacts: "artifacts" }[key] || title;
      const many = rows.length > 1 && key !== "compiles" && key !== "times" ? rows.length + " " : "";
      box.append(el("span", "tag " + tone(key, how), many + name));
    }
    const texts = log.texts.filter((t) => t.compile_id === i);
    if (texts.length) {
      const a = el("a", "tag changed", texts.length === 1 ? texts[0].name : texts.length + " texts");
      a.href = "#text-" + i;
      box.append(a);
    }
    return box;
  }

  function compileTable(log) {
    const box = document.createDocumentFragment();
    const all = log.compile_ids.map((c, i) => [c, i]).filter(([c]) => c.changes || c.texts);
    if (!all.length) return box;
    all.sort(([x, i], [y, j]) => Math.abs(weight(y)) - Math.abs(weight(x)) || y.changes + y.texts - x.changes - x.texts || i - j);
    box.append(heading("compile_ids", "What changed, by cost", null, count(all.length, "compilation") + " of " + log.compile_ids.length +
      "; " + log.frames.matched + " frames matched by code" + (log.frames.gone ? ", " + log.frames.gone + " removed" : "") + (log.frames.new ? ", " + log.frames.new + " added" : "")));
    const body = el("tbody"), table = el("table", "", el("thead", "", el("tr", "", el("th", "", "compile id"), el("th", "", "code"),
      el("th", "num", "before, s"), el("th", "num", "after, s"), el("th", "num", "difference"), el("th", "", "what"))), body);
    const add = (from, to) => {
      for (const [c, i] of all.slice(from, to)) {
        const both = c.before_seconds !== null && c.after_seconds !== null, d = both ? c.after_seconds - c.before_seconds : weight(c);
        const cls = c.timed || !both ? d > 0 ? "up" : d < 0 ? "down" : "" : "dim";
        const ratio = both && c.timed && c.before_seconds > 0 ? " (" + (c.after_seconds / c.before_seconds).toFixed(2) + "\u00d7)" : "";
        body.append(el("tr", "", el("td", "id", idText(c)), el("td", "where", c.location ? place(c.location) : el("span", "dim", "outside any frame")),
          el("td", "num", seconds(c.before_seconds)), el("td", "num", seconds(c.after_seconds)),
          el("td", "num", el("span", cls, d ? signed(d) + ratio : "")), el("td", "", whatChanged(log, i))));
      }
    };
    paged(box, table, all.length, 50, add);
    return box;
  }

  /* A table that is filled on demand. */
  function paged(box, table, n, step, add) {
    const panel = el("div", "panel", table);
    let shown = Math.min(n, step);
    add(0, shown);
    box.append(panel);
    if (shown === n) return;
    const more = el("button", "more", "Show " + (n - shown).toLocaleString("en") + " more");
    more.type = "button";
    more.addEventListener("click", () => {
      add(shown, Math.min(n, shown + 500));
      shown = Math.min(n, shown + 500);
      if (shown === n) more.remove();
      else more.textContent = "Show " + (n - shown).toLocaleString("en") + " more";
    });
    box.append(more);
  }

  function section(log, key, title) {
    const rows = log[key], box = document.createDocumentFragment();
    if (!rows.length) return box;
    const more = log.more[key] || 0;
    box.append(heading(key, title, rows.length + more, more ? "first " + rows.length + " listed" : ""));
    const has = (f) => rows.some((r) => r[f] !== null && r[f] !== undefined);
    const cols = [["how", "", ""]];
    if (has("compile_id")) cols.push(["id", "compile id", "id"]);
    if (has("location") && key !== "config") cols.push(["where", "code", "where"]);
    if (has("subject")) cols.push(["subject", { graph_breaks: "reason", config: "setting", versions: "of", symbols: "source", failures: "type", metrics: "metric", artifacts: "artifact" }[key] || "what", "val"]);
    if (key === "graph_breaks") cols.push(["note", "explanation", "val"]);
    else if (has("before") || has("after")) cols.push(["before", key === "times" ? "before, s" : "before", key === "times" ? "num" : "val"], ["after", key === "times" ? "after, s" : "after", key === "times" ? "num" : "val"]);
    if (has("seconds")) cols.push(["seconds", "seconds", "num"]);
    if (rows.some((r) => r.count > 1)) cols.push(["count", key === "config" ? "compilations" : "times", "num"]);
    const body = el("tbody"), table = el("table", "", el("thead", "", el("tr", "", ...cols.map((c) => el("th", c[2] === "num" ? "num" : "", c[1])))), body);
    const sorted = key === "times" || key === "compiles" || key === "recompiles" ? rows.slice().sort((x, y) => Math.abs(y.seconds || 0) - Math.abs(x.seconds || 0)) : rows;
    const add = (from, to) => {
      for (const r of sorted.slice(from, to)) {
        const [x, y] = beforeAfter(r.before, r.after), tr = el("tr");
        for (const [name, , cls] of cols) {
          const td = el("td", cls);
          if (name === "how") td.append(el("span", "tag " + tone(key, r.how), word(r.how)));
          else if (name === "id") td.append(r.compile_id === null ? "" : idText(log.compile_ids[r.compile_id]));
          else if (name === "where") td.append(r.location ? place(r.location) : "");
          else if (name === "before") td.append(x);
          else if (name === "after") td.append(y);
          else if (name === "note") td.append(r.before || r.after || "");
          else if (name === "seconds") td.append(r.seconds ? el("span", r.seconds > 0 ? "up" : "down", signed(r.seconds)) : "");
          else if (name === "count") td.append(r.count > 1 ? r.count : "");
          else td.append(r[name] === null ? "" : r[name]);
          tr.append(td);
        }
        body.append(tr);
      }
    };
    paged(box, table, sorted.length, 30, add);
    return box;
  }

  const opened = new Set();
  function textRow(log, t, i) {
    const d = el("details", "text"), s = el("summary"), name = el("span", "name", t.name);
    d.dataset.text = i;
    s.append(name);
    if (t.shown) s.append(el("span", "minus", "\u2212" + t.removed), el("span", "plus", "+" + t.added));
    if (t.same_as !== null) s.append(el("span", "tag", "the same change as " + log.texts[t.same_as].name + " of " + idText(log.compile_ids[log.texts[t.same_as].compile_id])));
    if (t.coarse) s.append(el("span", "tag", "too different for a minimal diff"));
    if (!t.shown) s.append(el("span", "tag", "differs; not shown"));
    s.append(el("span", "grow"), el("span", "dim", "log line " + t.before_line + " \u2192 " + t.after_line));
    d.append(s);
    const fill = async () => {
      const src = t.same_as !== null ? log.texts[t.same_as] : t;
      for (const old of d.querySelectorAll(".diff, .note")) old.remove();
      if (src.block === undefined) {
        d.append(el("div", "note", "These texts differ. They have too many lines to include in this page."));
        return;
      }
      const text = await textOf(src);
      d.append(renderDiff(text));
      if (src.left_out) d.append(el("div", "note", "and " + count(src.left_out, "line") + " more in hunks not shown"));
    };
    d.addEventListener("toggle", () => {
      if (!d.open) { opened.delete(d); return; }
      opened.add(d);
      if (!d.querySelector(".diff, .note")) d.filling = fill();
    });
    d.refill = fill;
    return d;
  }

  function textsSection(log) {
    const box = document.createDocumentFragment();
    if (!log.texts.length) return box;
    const own = log.texts.filter((t) => t.same_as === null).length;
    box.append(heading("texts", "Graphs and code, line by line", log.texts.length, own < log.texts.length ? count(own, "different change") : ""));
    box.append(el("p", "dim", "Numbers in names (buf3, add_12, s77), addresses, hashes and temporary paths are ignored in the comparison. " +
      "A line in grey differs only in names."));
    if (log.texts_left) box.append(el("div", "note", count(log.texts_left, "text differs and is", "texts differ and are") + " not shown: the page would be too large."));
    const groups = new Map();
    log.texts.forEach((t, i) => {
      if (!groups.has(t.compile_id)) groups.set(t.compile_id, []);
      groups.get(t.compile_id).push(i);
    });
    const ids = [...groups.keys()].sort((x, y) => Math.abs(weight(log.compile_ids[y])) - Math.abs(weight(log.compile_ids[x])) || x - y);
    const holder = el("div"), step = 40;
    let at = 0;
    const add = (n) => {
      for (const id of ids.slice(at, at + n)) {
        const c = log.compile_ids[id], h = el("h3", "", el("span", "id", idText(c)), el("span", "dim mono", where(c.location)));
        h.id = "text-" + id;
        holder.append(h);
        for (const i of groups.get(id)) holder.append(textRow(log, log.texts[i], i));
      }
      at += n;
    };
    add(step);
    box.append(holder);
    if (at < ids.length) {
      const more = el("button", "more", "Show the texts of " + (ids.length - at) + " more compilations");
      more.type = "button";
      more.addEventListener("click", () => { add(ids.length); more.remove(); });
      box.append(more);
    }
    return box;
  }

  /* Only a page of graphs has the script (diff/graphs.js). */
  const graphs = typeof pt2diffGraphs === "function" ? pt2diffGraphs({ textOf, idText, place, heading, beforeAfter, word, weight }) : null;

  function render() {
    const log = doc.logs[current];
    opened.clear();
    main.textContent = "";
    main.append(tiles());
    if (!doc.differs) main.append(el("div", "same", "No differences."));
    if (!log.before || !log.after)
      main.append(el("div", "note", log.before ? "The second run has no matching log." : "The first run has no matching log."));
    for (const side of ["before", "after"])
      if (log[side] && log[side].damaged) main.append(el("div", "note", log[side].path + " is damaged: the parts that could not be read are not compared."));
    if (log.unread) main.append(el("div", "note", count(log.unread, "text") + " could not be read again: a log changed while it was being read."));
    if (doc.logs.length > 1 && !log.differs) main.append(el("div", "same", "No differences in this log."));
    const jump = el("div", "jump");
    const shown = graphs ? [["graphs", "Graphs, node by node", log.graphs.length], ["fusions", "Kernels and fusion", graphs.fusions(log)]] : [];
    for (const [key, title, n] of [...kinds, ...shown, ["texts", "Graphs and code"]]) {
      if (n === 0 || !log[key].length) continue;
      const a = el("a", "", title.replace(/,.*/, "") + " ", el("b", "", n || log[key].length + (log.more[key] || 0)));
      a.href = "#" + key;
      jump.append(a);
    }
    if (jump.childNodes.length) main.append(jump);
    main.append(compileTable(log));
    for (const [key, title] of kinds) main.append(section(log, key, title));
    if (graphs) main.append(graphs.section(log), graphs.fusionSection(log));
    main.append(textsSection(log));
    const first = main.querySelector("details.text");
    if (first && log.texts.length <= 3) first.open = true;
  }

  /* ---- the frame ---- */

  const names = document.getElementById("names");
  names.append(el("b", "", doc.before.name), " \u2192 ", el("b", "", doc.after.name));
  names.title = doc.before.name + " \u2192 " + doc.after.name;
  const logs = document.getElementById("logs");
  if (doc.logs.length > 1) {
    logs.hidden = false;
    doc.logs.forEach((l, i) => {
      const x = l.after || l.before, o = el("option", "", (x.rank === null ? "" : "rank " + x.rank + ": ") + x.path.replace(/^.*\//, "") + (l.differs ? "" : " (no differences)"));
      o.value = i;
      logs.append(o);
    });
    current = Math.max(0, doc.logs.findIndex((l) => l.differs));
    logs.value = current;
    logs.addEventListener("change", () => { current = +logs.value; render(); });
  }
  const splitButton = document.getElementById("split");
  function setSplit(on) {
    split = on;
    splitButton.setAttribute("aria-pressed", String(on));
    try { localStorage.setItem("pt2split", on ? "1" : ""); } catch (x) { /* storage may be shut */ }
    return Promise.all([...opened].map((d) => d.refill()));
  }
  splitButton.addEventListener("click", () => setSplit(!split));
  try { if (localStorage.getItem("pt2split")) setSplit(true); } catch (x) { /* storage may be shut */ }
  render();
  if (location.hash.length > 2) {
    const e = document.getElementById(location.hash.slice(1));
    if (e) e.scrollIntoView();
  }

  /* What a browser test may call. */
  window.pt2diff = {
    doc,
    setSplit,
    setLog(i) { current = i; render(); },
    drawGraph: (i, fusion) => graphs.open(i, fusion),
    async open(i) {
      const d = [...main.querySelectorAll("details.text")].find((x) => +x.dataset.text === i);
      d.open = true;
      await new Promise((r) => setTimeout(r));
      await (d.filling || d.refill());
      return d.querySelectorAll("tr").length;
    },
  };
})();
