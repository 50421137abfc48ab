// Three panes whose lines are linked: the data is in #model (docs/formats/REPORT.md, "links"). Nothing of it is ever read as HTML.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const model = JSON.parse($("model").textContent);
  const PANES = ["pre", "post", "code"];
  let set = null, aot = false, picked = null, lines = {};
  const listOf = (map, line) => (map && map[line]) || [];
  const make = (tag, cls, text) => {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // ---- colours: one line at a time; what an earlier line opened (a docstring, a comment) continues ----
  const PY = new Set(("and as assert async await break class continue def del elif else except False finally for from global if import in " +
    "is lambda None nonlocal not or pass raise return True try while with yield").split(" "));
  const CPP = new Set(("auto bool break case char class const constexpr continue default delete do double else enum extern false float for " +
    "if inline int int32_t int64_t long namespace new nullptr return size_t static struct switch template this true typename uint8_t " +
    "using void while").split(" "));
  const TOKEN = { py: /(#.*$)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g,
    cpp: /(\/\/.*$|\/\*.*?\*\/)|("(?:\\.|[^"\\])*")|(\b\d[\w.]*)|([A-Za-z_]\w*)/g };

  function colour(to, text, lang) {
    const token = TOKEN[lang], words = lang === "py" ? PY : CPP;
    let at = 0, m;
    if (!token || text.length > 5000) {
      to.append(text);
      return;
    }
    token.lastIndex = 0;
    while ((m = token.exec(text))) {
      const kind = m[1] ? "com" : m[2] ? "str" : m[3] ? "num" : words.has(m[4]) ? "kw" : "";
      if (!kind) continue;
      to.append(text.slice(at, m.index), make("span", kind, m[0]));
      at = m.index + m[0].length;
    }
    to.append(text.slice(at));
  }

  // ---- what belongs to a line ----
  const toPost = () => (aot ? set.links.aotToPost : set.links.codeToPost) || {};
  const fromPost = () => (aot ? set.links.postToAot : set.links.postToCode) || {};
  const calls = () => (aot ? set.links.aotCalls : set.links.codeCalls) || [];

  // A call of several lines is one: any of them counts as the first.
  const callAt = (line) => calls().filter((c) => c[1] <= line && line <= c[2]);
  const definitionAt = (line) => (definitionsHere() ? set.links.kernels.map((k, i) => [k, i]).filter(([k]) => k[1] && k[1] <= line && line <= k[2]) : []);
  const definitionsHere = () => set.code === null || !aot;

  function related(pane, line) {
    const out = { pre: new Set(), post: new Set(), code: new Set(), kernels: new Set() };
    const code = (first) => {
      out.code.add(first);
      for (const c of calls()) if (c[1] === first) for (let n = c[1]; n <= c[2]; n++) out.code.add(n);
    };
    if (pane === "pre") {
      out.pre.add(line);
      listOf(set.links.preToPost, line).forEach((n) => out.post.add(n));
    } else if (pane === "post") {
      out.post.add(line);
    } else {
      const at = callAt(line), def = at.length ? [] : definitionAt(line);
      out.code.add(line);
      at.forEach((c) => { code(c[1]); out.kernels.add(c[0]); });
      def.forEach(([, i]) => { out.kernels.add(i); calls().forEach((c) => { if (c[0] === i) code(c[1]); }); });
      (at.length ? at.map((c) => c[1]) : Array.from(out.code)).forEach((n) => listOf(toPost(), n).forEach((m) => out.post.add(m)));
    }
    if (pane !== "code") out.post.forEach((n) => listOf(fromPost(), n).forEach(code));
    if (pane !== "pre") out.post.forEach((n) => listOf(set.links.postToPre, n).forEach((m) => out.pre.add(m)));
    calls().forEach((c) => { if (out.code.has(c[1])) out.kernels.add(c[0]); });
    return out;
  }

  function sourceOf(graph, line) {
    let best = -1;
    for (const [first, source] of set.links[graph + "Source"] || []) {
      if (first > line) break;
      best = source;
    }
    return best;
  }

  function linked(pane, line) {
    if (pane === "pre") return listOf(set.links.preToPost, line).length > 0;
    if (pane === "post") return listOf(set.links.postToPre, line).length > 0 || listOf(fromPost(), line).length > 0;
    return callAt(line).length > 0;
  }

  // ---- show ----
  function textOf(pane) {
    const k = pane === "code" ? (aot ? set.aot : set.code) : set[pane];
    return k === null || k === undefined ? null : model.texts[k];
  }

  const MISSING = { pre: "The log has no graph from before Inductor's passes: none is written after a cache hit or without Inductor.",
    post: "The log has no graph from after Inductor's passes.", code: "The log has no generated code." };

  function fill(pane) {
    const section = $("pane-" + pane), to = section.querySelector(".text"), text = textOf(pane);
    section.querySelector(".path").textContent = text ? text.path : "";
    lines[pane] = [];
    to.scrollTop = 0;
    if (!text) {
      to.replaceChildren(make("p", "empty", MISSING[pane]));
      return;
    }
    const box = make("div", "lines"), has = new Set();
    const all = text.text.split("\n");
    if (pane === "code") calls().forEach((c) => { for (let n = c[1]; n <= c[2]; n++) has.add(n); });
    const defs = new Set(pane === "code" && definitionsHere() ? set.links.kernels.map((k) => k[1]) : []);
    all.forEach((line, i) => {
      const n = i + 1, div = make("div", "ln");
      if (pane === "code" ? has.has(n) : linked(pane, n)) div.classList.add("has");
      if (n && defs.has(n)) div.classList.add("def");
      div.append(make("i", "", n));
      const span = make("span");
      colour(span, line, text.lang);
      div.append(span);
      div.dataset.n = n;
      box.append(div);
      lines[pane].push(div);
    });
    to.replaceChildren(box);
  }

  function show(pane, line, quiet) {
    const to = $("pane-" + pane).querySelector(".text"), div = lines[pane][line - 1];
    if (!div) return;
    const top = div.offsetTop - to.offsetTop, up = to.scrollTop, tall = to.clientHeight;
    if (quiet && top >= up && top + div.offsetHeight <= up + tall) return;
    to.scrollTop = Math.max(0, top - tall / 3);
  }

  function clear() {
    document.querySelectorAll(".ln.hit, .ln.pick").forEach((e) => e.classList.remove("hit", "pick"));
    $("detail").replaceChildren();
    picked = null;
  }

  function pick(pane, line) {
    clear();
    const div = lines[pane][line - 1];
    if (!div) return;
    picked = { pane, line };
    const all = related(pane, line);
    for (const p of PANES) {
      all[p].forEach((n) => { if (lines[p][n - 1]) lines[p][n - 1].classList.add("hit"); });
      if (p !== pane && all[p].size) show(p, Math.min(...all[p]), false);
    }
    div.classList.replace("hit", "pick");
    div.classList.add("pick");
    show(pane, line, true);
    detail(all);
    location.replace("#" + pane + line);
  }

  // Where in the program: lines of code, and the stacks of the kernels.
  function detail(all) {
    const to = $("detail"), seen = new Set();
    for (const graph of ["pre", "post"])
      all[graph].forEach((n) => { const s = sourceOf(graph, n); if (s >= 0) seen.add(s); });
    seen.forEach((k) => {
      const [file, line, name, code] = set.links.sources[k], p = make("p");
      p.append(make("span", "place", file + ":" + line + (name ? " in " + name : "")), "  ", make("code", "", code || ""));
      to.append(p);
    });
    all.kernels.forEach((k) => {
      const [name, first] = set.links.kernels[k], p = make("details"), head = make("summary");
      head.append(make("b", "", name));
      if (first && definitionsHere()) {
        const go = make("button", "go", "definition");
        go.addEventListener("click", (e) => { e.preventDefault(); show("code", first, false); });
        head.append(" ", go);
      }
      p.append(head);
      stacksOf(name).forEach((s) => p.append(make("pre", "", s)));
      p.open = all.kernels.size < 3;
      to.append(p);
    });
  }

  const stacks = new Map(); // text index -> parsed
  function stacksOf(kernel) {
    if (set.stacks === null) return [];
    if (!stacks.has(set.stacks)) {
      let value = {};
      try { value = JSON.parse(model.texts[set.stacks].text); } catch (e) { /* as the log has it: no stacks, then */ }
      stacks.set(set.stacks, value && typeof value === "object" ? value : {});
    }
    const all = stacks.get(set.stacks);
    const list = Object.prototype.hasOwnProperty.call(all, kernel) ? all[kernel] : [];
    // Some torch escapes newlines twice.
    return (Array.isArray(list) ? list : []).filter((s) => typeof s === "string").map((s) => s.replace(/\\n/g, "\n").replace(/\s+$/, ""));
  }

  // ---- which set, which code ----
  function choose(index) {
    set = model.sets[index];
    set.links.kernels = set.links.kernels || [];
    const which = $("which"), both = set.code !== null && set.aot !== null;
    aot = set.aot !== null && (set.code === null || Object.keys(set.links.aotToPost || {}).length > 0);
    which.hidden = !both;
    which.replaceChildren(new Option("Python", "code"), new Option("C++", "aot"));
    which.value = aot ? "aot" : "code";
    const any = ["preToPost", "postToPre", "codeToPost", "aotToPost"].some((k) => Object.keys(set.links[k] || {}).length);
    $("notice").textContent = any ? "" : set.mapped ? "No lines are linked: the node mappings of this compilation are empty."
      : "No lines are linked: the log has no node mappings (set TORCH_COMPILE_DEBUG=1 or INDUCTOR_PROVENANCE=1 to make Inductor write them).";
    $("hint").hidden = !any;
    clear();
    PANES.forEach(fill);
    // What matters is at the call, not in the headers above it.
    const call = calls()[0];
    if (call) show("code", call[1], true);
  }

  function title(s, i) {
    const text = s.code !== null ? model.texts[s.code].text : s.aot !== null ? model.texts[s.aot].text : "";
    const id = /^\s*# AOT ID: \['([^']*)'\]/.exec(text);
    return i + 1 + " of " + model.sets.length + ": " + (id ? id[1] : s.aot !== null ? "AOTInductor" : s.post !== null ? model.texts[s.post].path : "no code");
  }

  function step(by) {
    const pane = picked ? picked.pane : "post";
    let n = picked ? picked.line : 0;
    for (n += by; n >= 1 && n <= lines[pane].length; n += by)
      if (lines[pane][n - 1].classList.contains("has")) {
        pick(pane, n);
        return;
      }
  }

  $("compile-id").textContent = model.compile_id;
  document.title = "Graphs and code of " + model.compile_id;
  model.sets.forEach((s, i) => $("set").append(new Option(title(s, i), i)));
  $("set-label").hidden = model.sets.length < 2;
  $("set").addEventListener("change", () => choose(+$("set").value));
  $("which").addEventListener("change", () => { aot = $("which").value === "aot"; clear(); fill("code"); fill("post"); });
  PANES.forEach((pane) => $("pane-" + pane).addEventListener("click", (e) => {
    const div = e.target.closest(".ln");
    if (div && !String(getSelection())) pick(pane, +div.dataset.n);
  }));
  document.addEventListener("keydown", (e) => {
    if (e.target.tagName === "SELECT" || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "Escape") clear();
  });
  document.querySelectorAll(".divider").forEach((bar) => bar.addEventListener("pointerdown", (down) => {
    const a = bar.previousElementSibling, b = bar.nextElementSibling, x = down.clientX, wa = a.offsetWidth, wb = b.offsetWidth;
    const move = (e) => {
      const d = Math.max(100 - wa, Math.min(wb - 100, e.clientX - x));
      PANES.forEach((p) => { const s = $("pane-" + p); s.style.flex = s.offsetWidth + " 1 0"; });
      a.style.flex = wa + d + " 1 0";
      b.style.flex = wb - d + " 1 0";
    };
    bar.setPointerCapture(down.pointerId);
    bar.addEventListener("pointermove", move);
    bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
  }));
  choose(0);
  const at = /^#(pre|post|code)(\d+)$/.exec(location.hash);
  if (at) pick(at[1], +at[2]);
  // For tests.
  window.provenance = { pick, related: (p, n) => { const r = related(p, n); return { pre: [...r.pre], post: [...r.post], code: [...r.code] }; },
    choose, sets: model.sets.length };
})();
