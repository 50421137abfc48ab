// The frame: which log, which view, the address bar, light and dark.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc, views = pt2.views;
  const main = document.getElementById("main"), nav = document.getElementById("nav"), many = doc.logs.length > 1;
  pt2.log = 0;

  const NAV = [
    ["", "Summary"], ["stacks", "Stacks", null, "", L => L.traced], ["compiles", "Compile ids", L => L.real.length], ["failures", "Failures, restarts", L => L.failures.length + Math.max((L.summary || {}).restarts || 0, L.compile_ids.reduce((n, c) => n + c.restarts.length, 0)) + L.cudagraph_skips.length, "bad"],
    ["breaks", "Graph breaks", L => L.graph_breaks.length, "warn"], ["recompiles", "Recompiles", L => (L.summary || {}).recompiles || 0, "warn"], ["symbols", "Symbols", L => L.symbols.length],
    ["vllm", "vLLM", L => L.vllm_pieces.length, "", L => L.vllm_calls.length + L.vllm_pieces.length], ["export", "Export", L => L.export ? L.export.failures.length : 0, "warn", L => L.export], ["provenance", "Provenance", L => L.provenance.length, "", L => L.provenance.length],
    ["timeline", "Timeline", null, "", L => L.traced], ["metrics", "Metrics", null, "", L => L.traced], ["config", "Configurations", null, "", L => L.traced],
    ["artifacts", "Artifacts", L => L.artifacts.line.length, "", L => L.traced], ["records", "Other records", null, "", L => L.traced],
  ];
  // Views that cost something to make, or hold what the reader typed, are kept.
  const KEEP = new Set(["all", "compiles", "timeline", "metrics", "config", "artifacts", "records", "breaks", "overview", "stacks"]);
  const kept = new Map(), scrolls = new Map();
  let now = null, shownHash = null;

  function parse(hash) {
    const parts = hash.replace(/^#\/?/, "").split("/").map(p => { try { return decodeURIComponent(p); } catch (e) { return p; } });
    let log = 0, all = many && (parts[0] === "" || parts[0] === "all");
    const m = /^L(\d+)$/.exec(parts[0]);
    if (m) { parts.shift(); log = Math.min(+m[1], doc.logs.length - 1); all = false; }
    if (all && parts[0] === "all") parts.shift();
    return { log, view: all ? "all" : parts[0] || "overview", arg: parts[1] == null || parts[1] === "" ? undefined : parts.slice(1).join("/") };
  }

  function drawNav(view, log) {
    nav.classList.toggle("again", view === "all" && doc.logs.length < 9); // the tabs on top have the same
    if (view === "all") {
      nav.replaceChildren(h("a", { href: "#/all", "aria-current": "page" }, "All logs"), ...doc.logs.slice(0, 200).map((L, i) => h("a", { href: "#/L" + i + "/", title: L.path }, logName(L, i))));
      return;
    }
    const L = doc.logs[log];
    const at = { compile: "compiles", artifact: "artifacts", graph: "artifacts", overview: "" }[view];
    nav.replaceChildren(...NAV.filter(n => !n[4] || L && n[4](L)).map(([id, title, count, tone]) => {
      const n = count && L ? count(L) : null, here = (at == null ? view : at) === id;
      return h("a" + (n === 0 ? ".none" : ""), { href: id === "" ? (many ? "#/L" + log + "/" : "#/") : pt2.href(log, id), "aria-current": here ? "page" : null }, title, n ? h("span.n" + (tone ? "." + tone : ""), null, pt2.num(n)) : null);
    }));
    const on = nav.querySelector("[aria-current]");
    if (on && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = on.offsetLeft - 40;
  }
  function logName(L, i) {
    const same = doc.logs.filter(M => M.rank === L.rank).length > 1;
    return L.rank != null && !same ? "rank " + L.rank : (L.rank != null ? "rank " + L.rank + " · " : "") + pt2.baseName(L.path).replace(/^dedicated_log_torch_trace_/, "").slice(0, 24);
  }
  function drawLogs(view, log) {
    const bar = document.getElementById("logs");
    if (!many) { bar.replaceChildren(h("span.logname", { title: doc.logs[0] && doc.logs[0].path }, doc.logs[0] ? pt2.baseName(doc.logs[0].path) : "")); return; }
    const keep = ["all", "compile", "artifact", "graph"].includes(view) ? { compile: "compiles", artifact: "artifacts", graph: "artifacts" }[view] || "" : view === "overview" ? "" : view;
    const to = i => i < 0 ? "#/all" : "#/L" + i + "/" + keep;
    const items = [[-1, "All logs"], ...doc.logs.map((L, i) => [i, logName(L, i)])], here = i => i < 0 ? view === "all" : view !== "all" && i === log;
    if (items.length <= 9) {
      const tabs = h("div.tabs", { role: "tablist", "aria-label": "Logs" }, items.map(([i, name]) =>
        h("a", { role: "tab", href: to(i), "aria-selected": String(here(i)), tabindex: here(i) ? "0" : "-1", "aria-controls": "main", title: i < 0 ? null : doc.logs[i].path }, name)));
      tabs.addEventListener("keydown", e => {
        const k = [...tabs.children].indexOf(document.activeElement), d = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (d) { e.preventDefault(); tabs.children[(k + d + items.length) % items.length].focus(); }
        if (e.key === " ") { e.preventDefault(); document.activeElement.click(); }
      });
      bar.replaceChildren(tabs);
    } else {
      bar.replaceChildren(h("select", { "aria-label": "Log", onchange: e => { location.hash = to(+e.target.value); } }, items.map(([i, name]) => h("option", { value: String(i), selected: here(i) }, name))));
    }
  }

  const scrollers = el => [main, ...el.querySelectorAll(".table, .code, .reader")];
  // Shows what the address names. Resolves when it is shown: to the text, for an artifact.
  function route(hash) {
    shownHash = hash;
    let { log, view, arg } = parse(hash);
    if (!doc.logs.length) { main.replaceChildren(h("div.view", null, h("h1", null, "No log could be read."))); return Promise.resolve(); }
    pt2.log = log;
    if (now) { scrolls.set(now.key, scrollers(now.el).map(e => [e.scrollTop, e.scrollLeft])); }
    const opening = view === "artifact";
    const name = opening ? "artifacts" : view, make = views[name];
    const keep = KEEP.has(name) && (name === "artifacts" || arg == null), key = log + "|" + name + (name === "artifacts" ? "" : "|" + (arg || ""));
    let el = kept.get(key), fresh = !el;
    if (fresh) {
      try {
        el = make && Object.hasOwn(views, name) ? make(log, opening ? undefined : arg) : h("div.view", null, h("h1", null, "Page not found"), h("p", null, h("a", { href: "#/" }, "Go to the summary")));
      } catch (e) {
        console.error(e);
        el = h("div.view", null, h("h1", null, "This view could not be displayed"), h("pre", null, String(e && e.stack || e)));
      }
      if (keep) kept.set(key, el);
    }
    const same = now && now.el === el;
    if (!same) {
      main.className = name === "artifacts" || el.classList.contains("prov") ? "fill" : "";
      main.replaceChildren(el);
      const was = fresh ? null : scrolls.get(key);
      scrollers(el).forEach((e, i) => { e.scrollTop = was && was[i] ? was[i][0] : 0; e.scrollLeft = was && was[i] ? was[i][1] : 0; });
    }
    if (!fresh && el.again && !opening) el.again(arg);
    now = { key, el };
    drawNav(view, log);
    drawLogs(view, log);
    const item = NAV.find(([id]) => id === (view === "overview" ? "" : view));
    document.title = (opening ? pt2.baseName(pt2.artifactName(log, +arg)) : view === "compile" ? "Compile " + String(arg || "").replace("-", "/") : view === "all" ? "All logs" : view === "graph" ? "Graph" : item ? item[1] : "Report") + " – torch.compile report";
    if (opening) return el.open(/^\d+$/.test(arg) ? +arg : pt2.count(log));
    if (name === "artifacts") el.open(-1);
    return Promise.resolve(el.ready);
  }
  pt2.go = function (hash) {
    const p = route(hash);
    if (location.hash !== hash) { location.hash = hash; }
    p.catch(() => {});
    return p;
  };
  const follow = () => { if (location.hash !== shownHash) route(location.hash).catch(() => {}); };
  window.addEventListener("hashchange", follow);

  // ---- light and dark ------------------------------------------------------------------------------------------

  const root = document.documentElement, button = document.getElementById("theme"), media = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme === "dark";
  function told() {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use light colours" : "Use dark colours");
    window.dispatchEvent(new Event("pt2theme"));
  }
  // The choice made with the button applies; without one, the system's (the frame's first script does the same before the first paint).
  let own = false;
  try { own = /^(dark|light)$/.test(localStorage.getItem("pt2theme")); } catch (e) { /* storage may be shut for files */ }
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    own = true;
    try { localStorage.setItem("pt2theme", root.dataset.theme); } catch (e) { /* as above */ }
    told();
  });
  media.addEventListener("change", () => { if (!own) { root.dataset.theme = media.matches ? "dark" : "light"; told(); } });

  // ---- the search box above, keys ------------------------------------------------------------------------------

  const quick = document.getElementById("quickbox");
  document.getElementById("quick").addEventListener("submit", e => {
    e.preventDefault();
    const q = quick.value.trim(), L = doc.logs[pt2.log];
    if (!q || !L) return;
    const exact = L.compile_ids.find(c => pt2.compileLabel(c) === q.replace(/^\[|\]$/g, ""));
    quick.value = "";
    location.hash = exact ? pt2.href(pt2.log, "compile", exact.slug) : pt2.href(pt2.log, "artifacts", q);
  });
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    if (e.key === "/") { e.preventDefault(); const b = main.querySelector(".finder input[type=search]"); (b || quick).focus(); }
  });
  document.getElementById("skip").addEventListener("click", e => { e.preventDefault(); main.focus(); });

  if (!pt2.canInflate) document.body.prepend(h("p.problem.top", { role: "alert" }, pt2.NO_INFLATE));
  told();
  route(location.hash).catch(() => {});
})();
