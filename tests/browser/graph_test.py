#!/usr/bin/python3
"""Opens drawn graphs in headless Chromium: graph_test.py REPORT.html DIFF.html LARGE.html

REPORT is of traces/fusion/after.log, DIFF compares it with before.log, LARGE has one graph of 5,000 nodes. Prints TAP.
SHOTS=FOLDER: with screenshots.
"""
import os
import pathlib
import sys

import chromium

OPEN = """const done = arguments[arguments.length - 1];
(async () => {
  const L = pt2.doc.logs[0], i = [...L.artifacts.line.keys()].filter(k => pt2.isGraph(0, k) && /post_grad_graph/.test(pt2.artifactName(0, k))).pop(), t = performance.now();
  await pt2.go(pt2.href(0, "graph", i));
  while (!pt2.currentGraph.opened) await new Promise(r => setTimeout(r, 5));
  const g = pt2.currentGraph, m = g.model, node = g.graph.layout.node, boxes = g.graph.layout.boxes, ms = performance.now() - t;
  let overlap = 0, outside = 0, up = 0;
  const rows = new Map();
  node.forEach((n, k) => (rows.get(n.y) || rows.set(n.y, []).get(n.y)).push(k));
  for (const row of rows.values()) {
    row.sort((a, b) => node[a].x - node[b].x);
    for (let k = 1; k < row.length; k++) if (node[row[k]].x - node[row[k - 1]].x < (node[row[k]].w + node[row[k - 1]].w) / 2 - 0.01) overlap++;
  }
  for (const b of boxes) for (const k of b.list) if (node[k].x - node[k].w / 2 < b.x || node[k].x + node[k].w / 2 > b.x + b.w || node[k].y < b.y || node[k].y + node[k].h > b.y + b.h) outside++;
  for (let e = 0; e < m.edges.length; e += 2) if (node[m.edges[e]].y >= node[m.edges[e + 1]].y) up++;
  const t2 = performance.now(), hits = g.graph.search("relu"), search = performance.now() - t2, chosen = g.graph.state().chosen;
  return { nodes: m.name.length, edges: m.edges.length / 2, kernels: m.kernels, boxes: boxes.map(b => m.kernels[b.k] + ": " + b.list.map(k => m.name[k]).join(" ")), overlap, outside, up, hits, ms, search,
    chosen: m.name[chosen], panel: g.querySelector(".gpanel").innerText, links: [...g.querySelectorAll(".gpanel a")].map(a => a.getAttribute("href")) };
})().then(done, e => done(String(e.stack || e)));"""
DIFF = """const done = arguments[arguments.length - 1];
(async () => {
  const g = await pt2diff.drawGraph(0), f = await pt2diff.drawGraph(0, true), tones = x => [0, 1, 2, 3, 4].map(t => x.model.name.filter((n, i) => x.model.tone[i] === t).length);
  return { graph: tones(g), added: g.model.name[g.model.tone.indexOf(1)], fusion: tones(f), kernels: f.model.kernels, before: f.model.kernels_before,
    text: document.querySelector("#fusion-0").innerText, table: document.querySelector("#graph-0").innerText };
})().then(done, e => done(String(e.stack || e)));"""

browser = chromium.start(120)
shots = os.environ.get("SHOTS")
n = 0


def check(what, good, detail=""):
    global n
    n += 1
    print(f"{'ok' if good else 'not ok'} {n} - {what}" + ("" if good else f"\n#   {str(detail)[:1500]}"))


def opened(path, script):
    browser.get(pathlib.Path(path).resolve().as_uri())
    got = browser.execute_async_script(script)
    for theme in ("light", "dark"):
        browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
        if shots:
            browser.save_screenshot(f"{shots}/{pathlib.Path(path).stem}_{theme}.png")
    said = [line["message"] for line in browser.get_log("browser")]
    check(f"{pathlib.Path(path).stem}: opens, and nothing complains", isinstance(got, dict) and not said, (got, said))
    return got if isinstance(got, dict) else {}


r = opened(sys.argv[1], OPEN)
check("a box for each kernel of several nodes", r.get("boxes") == ["cpp_fused_mean_mul_opaque_sin_0: sin mul mean", "cpp_fused_add_cos_mean_relu_sub_1: cos add relu sub",
      "cpp_fused_add_exp_sum_tanh_2: exp sum_1 tanh sum_2 add_1"], r.get("boxes"))
check("nodes do not overlap, are in their boxes, and stand below what they read", (r.get("overlap"), r.get("outside"), r.get("up")) == (0, 0, 0), r)
check("found by name", r.get("chosen") == "relu" and r.get("hits") == 4, r)
check("its value, source, kernel and the kernel's code", all(x in r.get("panel", "") for x in ("f32[80, 64]", "20.0 KiB", "fusion.py:", "cpp_fused_add_cos_mean_relu_sub_1", "4 nodes; reads 20.0 KiB, writes 20.0 KiB")), r.get("panel"))
check("links to the text and to the code", len([x for x in r.get("links", []) if x.startswith("#/artifact/")]) == 2, r.get("links"))
d = opened(sys.argv[2], DIFF)
check("both graphs as one: a node is new, its reader follows", d.get("graph") == [15, 1, 0, 0, 1] and d.get("added") == "a_1", d)
check("the kernels before and after", len(d.get("before", [])) == 3 and len(d.get("kernels", [])) == 5, d)
check("what changed, in words", "fused otherwise" in d.get("text", "") and "1 change follows" in d.get("table", ""), d)
b = opened(sys.argv[3], OPEN)
check(f"a graph of {b.get('nodes')} nodes is laid out, and searched", b.get("nodes", 0) >= 5000 and b.get("overlap") == 0 and b.get("outside") == 0 and b.get("hits", 0) > 100, {k: b.get(k) for k in ("nodes", "overlap", "outside", "hits")})
print(f"# {b.get('nodes')} nodes: shown after {b.get('ms', 0):.0f} ms, searched in {b.get('search', 0):.0f} ms")
print(f"1..{n}")
browser.quit()
