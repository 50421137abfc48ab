/* The graphs of the page of --diff: what changed node by node and kernel by kernel, and both graphs as one drawing (page/graph.js). */
function pt2diffGraphs({ textOf, idText, place, heading, beforeAfter, word, weight }) {
  const { el, count } = pt2, doc = pt2.doc;
  const HOW = { removed: "removed", added: "added", target: "operator", inputs: "inputs", constants: "arguments", shape: "shape", stride: "strides", dtype: "dtype", device: "device", type: "type" };
  const tone = (how) => how === "added" ? "new" : how === "removed" ? "gone" : "changed";
  const FUSED = { split: "split", merged: "merged", regrouped: "fused otherwise", new: "new", gone: "removed" };
  const opened = new Map();
  let current = null;

  function counts(g) {
    const box = el("span"), n = {};
    for (const c of g.changes) if (c.follows === null) n[c.how] = (n[c.how] || 0) + 1;
    for (const how of Object.keys(HOW)) if (n[how]) box.append(el("span", "tag " + tone(how), n[how] + " " + HOW[how]));
    const follow = g.changes.filter((c) => c.follows !== null).length;
    if (follow) box.append(el("span", "tag", count(follow, "follows", "follow")));
    return box;
  }

  /* A change, then what follows from it on demand. */
  function changeTable(g, draw) {
    const body = el("tbody"), table = el("table", "gtable", el("thead", "", el("tr", "", ...["what", "node", "operator", "before", "after", "code"].map((x) => el("th", "", x)))), body);
    const line = (c, cls) => {
      const [x, y] = beforeAfter(c.before, c.after), name = c.after_node === null || c.before_node === null || c.before_node === c.after_node ? c.after_node || c.before_node : c.before_node + " \u2192 " + c.after_node;
      const b = el("button", "link", name);
      b.type = "button";
      b.title = "Show it in the drawing";
      b.addEventListener("click", () => draw(c.after_node || c.before_node));
      return el("tr", cls, el("td", "", el("span", "tag " + (cls ? "" : tone(c.how)), HOW[c.how])), el("td", "val", b), el("td", "val", c.operator), el("td", "val", x), el("td", "val", y), el("td", "where", c.location ? place(c.location) : ""));
    };
    const own = g.changes.map((c, i) => [c, i]).filter(([c]) => c.follows === null);
    const add = (from, to) => {
      for (const [c, i] of own.slice(from, to)) {
        body.append(line(c, ""));
        const rest = g.changes.filter((f) => f.follows === i);
        if (!rest.length) continue;
        const cell = el("td"), more = el("button", "link", count(rest.length, "change follows", "changes follow")), row = el("tr", "follow", cell);
        cell.colSpan = 6;
        more.type = "button";
        more.addEventListener("click", () => row.replaceWith(...rest.map((f) => line(f, "follow"))));
        cell.append(more);
        body.append(row);
      }
      if (to < own.length) {
        const cell = el("td"), more = el("button", "link", "Show " + count(own.length - to, "more change")), row = el("tr", "", cell);
        cell.colSpan = 6;
        more.type = "button";
        more.addEventListener("click", () => { row.remove(); add(to, own.length); });
        cell.append(more);
        body.append(row);
      }
    };
    add(0, 20);
    return el("div", "panel", table);
  }
  function key(fusion) {
    return el("div", "key", el("span", "new", "added"), el("span", "gone", "removed"), el("span", "changed", "changed"), el("span", "follows", "follows from a change"), fusion ? el("span", "", "box: a kernel after") : null);
  }
  /* The drawing, made when it is first opened: el.shown resolves to it. */
  function drawing(x) {
    const box = el("div", "drawn");
    box.make = () => box.made = box.made || (async () => {
      if (!x.drawing) { box.append(el("div", "note", "This graph is too large to be included as a drawing.")); return null; }
      const model = JSON.parse(await textOf(x.drawing));
      const detail = (i) => {
        const k = model.kernel_before ? model.kernel_before[i] : -1, e = [];
        if (model.tone[i]) e.push(el("div", "", el("span", "tag " + ["", "new", "gone", "changed", ""][model.tone[i]], ["", "added", "removed", "changed", "follows from a change"][model.tone[i]])));
        if (k >= 0) e.push(el("h3", "", "Kernel before"), el("code", "", model.kernels_before[k]));
        return e;
      };
      const g = pt2graph(model, { detail });
      g.model = model;
      box.append(key(!!model.kernels), g);
      return g;
    })();
    return box;
  }
  function details(id, summary, body, draw) {
    const d = el("details", "text", el("summary", "", ...summary));
    d.id = id;
    const fill = () => {
      if (d.filled) return;
      d.filled = true;
      d.append(...body());
      draw.make();
    };
    d.addEventListener("toggle", () => { if (d.open) fill(); });
    d.openNow = () => { d.open = true; fill(); return draw.make(); };
    return d;
  }
  const showNode = (draw) => async (name) => {
    const g = await draw.make();
    if (!g) return;
    const i = g.model.name.indexOf(name);
    if (i >= 0) g.graph.choose(i, -1, true);
    g.scrollIntoView({ block: "nearest" });
  };

  function byCompile(log, rows, add) {
    const box = document.createDocumentFragment(), groups = new Map();
    rows.forEach((g, i) => { const id = log.texts[g.text].compile_id; (groups.get(id) || groups.set(id, []).get(id)).push([g, i]); });
    const ids = [...groups.keys()].sort((x, y) => Math.abs(weight(log.compile_ids[y])) - Math.abs(weight(log.compile_ids[x])) || x - y), step = 30;
    const holder = el("div"), put = (from, to) => {
      for (const id of ids.slice(from, to)) {
        const c = log.compile_ids[id];
        holder.append(el("h3", "", el("span", "id", idText(c)), c.location ? el("span", "dim mono", place(c.location)) : null), ...groups.get(id).map(([g, i]) => add(g, i)));
      }
    };
    put(0, step);
    box.append(holder);
    if (ids.length > step) {
      const more = el("button", "more", "Show " + count(ids.length - step, "more compilation"));
      more.type = "button";
      more.addEventListener("click", () => { put(step, ids.length); more.remove(); });
      box.append(more);
    }
    return box;
  }

  function section(log) {
    const box = document.createDocumentFragment();
    current = log;
    opened.clear();
    if (!log.graphs.length) return box;
    box.append(heading("graphs", "Graphs, node by node", log.graphs.length), el("p", "dim", "Nodes are matched by what they compute and what becomes of it; names and order do not count. " +
      "The later graphs of a compilation show the same change after Inductor's passes." + (log.graphs_alike ? " " + count(log.graphs_alike, "more graph differs", "more graphs differ") + " only in names and order." : "")));
    box.append(byCompile(log, log.graphs, (g, i) => {
      const draw = drawing(g), t = log.texts[g.text];
      const d = details("graph-" + i, [el("span", "name", t.name), counts(g), el("span", "grow"), el("span", "dim", g.before_nodes + " \u2192 " + count(g.after_nodes, "node"))],
        () => [changeTable(g, showNode(draw)), g.more ? el("div", "note", count(g.more, "more change") + " not listed") : "", draw], draw);
      opened.set("g" + i, d);
      return d;
    }));
    return box;
  }

  const changed = (log) => log.fusions.filter((f) => f.changes.length);
  function fusionSection(log) {
    const box = document.createDocumentFragment(), rows = changed(log);
    if (!rows.length) return box;
    box.append(heading("fusions", "Kernels and fusion", rows.length), el("p", "dim", "Kernels that compute other nodes than before. A reason is torch's own where its fusion log was beside the trace; else it is what changed in or next to these kernels."));
    box.append(byCompile(log, rows, (f, i) => {
      const draw = drawing(f), t = log.texts[f.text], body = el("tbody");
      for (const c of f.changes) {
        const kern = (k, cls) => el("div", "kern " + cls, k.kernel + " ", el("span", "nodes", k.nodes.join(", ")));
        body.append(el("tr", "", el("td", "", el("span", "tag " + (c.how === "new" ? "new" : c.how === "gone" ? "gone" : "changed"), FUSED[c.how])), el("td", "", ...c.before.map((k) => kern(k, "gone")), ...c.after.map((k) => kern(k, "new"))),
          el("td", "", c.reason === null ? el("span", "dim", "unknown: TORCH_LOGS=fusion tells") : (c.logged ? "" : "likely: ") + c.reason)));
      }
      const table = el("div", "panel", el("table", "gtable", el("thead", "", el("tr", "", ...["what", "kernels and their nodes", "why"].map((x) => el("th", "", x)))), body));
      const d = details("fusion-" + i, [el("span", "name", t.name.replace(/_c[a-z2-7]{51}$/, "")), el("span", "tag changed", f.before_kernels + " \u2192 " + count(f.after_kernels, "kernel")), el("span", "tag", f.before_operators + " \u2192 " + count(f.after_operators, "operator call"))],
        () => [table, f.more ? el("div", "note", count(f.more, "more change") + " not listed") : "", draw], draw);
      opened.set("f" + i, d);
      return d;
    }));
    return box;
  }
  return { section, fusionSection, fusions: (log) => changed(log).length, open: (i, fusion) => { const d = opened.get((fusion ? "f" : "g") + i); return d ? d.openNow() : Promise.resolve(null); } };
}
