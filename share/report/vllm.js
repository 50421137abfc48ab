// vLLM: what its backend compiled, by range of sizes and part of the graph, and what each pass over a part changed.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc, views = pt2.views;
  const CONFIG = ["event", "model", "prefix", "mode", "backend", "cudagraph_mode", "sizes", "ranges", "splitting_ops", "custom_ops", "enabled_passes", "inductor_passes", "dynamic_shapes_type"];
  const range = p => p.single ? "size " + p.start : p.start == null ? "no range" : "sizes " + p.start + " to " + p.end;
  const graph = (log, a, text) => a == null ? text : h("a", { href: pt2.href(log, "artifact", a) }, text);

  function diff(text) {
    return h("pre.hunks", null, text.split("\n").map(line => h("span" + ({ "+": ".add", "-": ".del", "@": ".at" }[line[0]] || ""), null, line + "\n")));
  }
  function pass(log, p) {
    const what = [graph(log, p.artifact, p.name), " ", p.added == null ? h("small.dim", null, "nothing to compare with")
      : p.added + p.removed ? h("small", null, h("b.add", null, "+" + p.added), " ", h("b.del", null, "−" + p.removed)) : h("small.dim", null, "no changes")];
    return p.diff ? h("details.vpass", null, h("summary", null, p.index == null ? "" : p.index + " ", what), diff(p.diff)) : h("div.vpass", null, p.index == null ? "" : p.index + " ", what);
  }
  function piece(log, p, passes) {
    const mine = passes.filter(x => x.piece === p.line), changed = mine.filter(x => x.added + x.removed > 0);
    return h("details.vpiece", { open: changed.length > 0 && changed.length < 8 ? "" : null },
      h("summary", null, h("code", null, p.name || "part " + p.index), " ", h("small.dim", null, mine.length ? changed.length + " of " + pt2.plural(mine.length, "pass", "passes") + " changed it" : "no pass in the log",
        p.cudagraph ? " · captured as a CUDA graph" : "")), mine.map(x => pass(log, x)));
  }
  views.vllm = function (log) {
    const L = doc.logs[log], calls = L.vllm_calls.slice(), parts = L.vllm_pieces;
    if (parts.concat(L.vllm_texts).some(p => !calls.some(c => c.line === p.call))) calls.push({ line: 0 });
    return h("div.view", null, h("h2", null, "vLLM"), h("p.note", null, "What vLLM's backend compiled, by size range and part of the graph, and what each pass changed."),
      calls.map(c => {
        const own = p => c.line ? p.call === c.line : !L.vllm_calls.some(x => x.line === p.call);
        const mine = parts.filter(own), texts = L.vllm_texts.filter(own), by = pt2.groupBy(mine, range);
        return h("section", null, h("h3", null, c.prefix || "A call", " ", c.line ? pt2.compileLink(log, c.compile_id) : null),
          h("table.vconfig", null, CONFIG.filter(k => c[k]).map(k => h("tr", null, h("th", null, k.replace(/_/g, " ")), h("td", null, h("code", null, c[k]))))),
          texts.length ? h("p.note", null, texts.map((x, i) => [i ? ", " : "", graph(log, x.artifact, x.name)])) : null,
          [...by].map(([name, list]) => h("div.vrange", null, h("h4", null, name, " ", h("small.dim", null, pt2.plural(list.length, "part"))), list.map(p => piece(log, p, L.vllm_passes)))));
      }));
  };
})();
