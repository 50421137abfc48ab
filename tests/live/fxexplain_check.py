"""Holds a document of fxexplain --json against what was done and against what torch counted; speaks TAP for tests/live/fxexplain.t.

    fxexplain_check.py cases RUN.json NUMBERS.json EXPLAIN.json
    fxexplain_check.py failures RUN.json LINES.json
"""
import json
import sys

tests = 0


def check(what, got, want):
    global tests
    tests += 1
    print(f"{'ok' if got == want else 'not ok'} {tests} - {what}")
    if got != want:
        print(f"#   got:  {got}\n#   want: {want}")


def inside(location, case, file):
    return bool(location) and location["file"].endswith(file) and case["first"] <= (location["line"] or 0) <= case["last"]


def of_case(d, case, file):
    """What the document says of the lines of one case."""
    ids = {i for i, c in enumerate(d["compiles"]) if inside(c["location"], case, file)}
    mine = lambda rows: [r for r in rows if r["compile"] in ids]
    return {
        "breaks": len([b for b in d["graph_breaks"] if inside(b["location"], case, file) and not b["inferred"]]),
        "jumps": len([b for b in d["graph_breaks"] if inside(b["location"], case, file) and b["kind"] == "jump"]),
        "compiles": len(ids),
        "graphs": sum(d["compiles"][i]["graphs"] or 0 for i in ids),
        "recompiles": len(mine(d["recompiles"])),
        "limits": len([r for r in d["recompile_limits"] if inside(r["location"], case, file) or r["compile"] in ids]),
        "failures": len([f for f in mine(d["failures"]) if not f["restart"]]),
        "grouped": sum(g["count"] for g in d["breaks"] if inside(d["graph_breaks"][g["first"]]["location"], case, file)),
        "in_frames": sum(f["recompiles"] for f in d["frames"] if inside(f["location"], case, file)),
    }


def cases(run, numbers, explain):
    total = {"breaks": 0, "recompiles": 0, "limits": 0, "failures": 0}
    for name, case in numbers.items():
        got, want, torch = of_case(run, case, "fxexplain_cases.py"), case["want"], case["torch"]
        # By hand: all that is not named is none.
        check(f"{name}: as counted by hand", {k: got[k] for k in total}, {k: want.get(k, 0) for k in total})
        check(f"{name}: groups and frames hold what the lists hold", (got["grouped"], got["in_frames"]), (got["breaks"], got["recompiles"]))
        # torch._dynamo.utils.counters["graph_break"] is raised where a break is recorded as an exception (exc.py); a jump on data goes
        # on without one (symbolic_convert.py, generic_jump), so torch counts none of these.
        check(f"{name}: breaks as torch counts them, jumps aside", got["breaks"] - got["jumps"], torch["breaks"])
        # unique_graphs is raised when a backend has returned, so a backend that fails has made none.
        if name != "backend":
            check(f"{name}: graphs as torch counts them", got["graphs"], torch["graphs"])
        for k in ("compiles", "recompiles", "failures"):
            check(f"{name}: {k} as torch's own metrics have them", got[k], torch[k])
        if name in explain:
            e = explain[name]
            # torch._dynamo.explain says graphs - 1 breaks, whatever breaks there were: too few where nothing is computed before a
            # break, too many where one call makes several graphs. Its list, where there is one, is right.
            wrong = {"dynamic_shape_op": {"breaks": -1, "listed": -1}, "inlined": {"breaks": 1}}.get(name, {})
            check(f"{name}: graphs as explain has them", got["graphs"], e["graphs"])
            check(f"{name}: breaks as explain has them", {k: got["breaks"] + wrong.get(k, 0) for k in ("breaks", "listed")},
                  {k: e[k] for k in ("breaks", "listed")})
        for k in total:
            total[k] += got[k]
    s = run["summary"]
    check("the summary is the sum", {k: s[v] for k, v in (("breaks", "graph_breaks"), ("recompiles", "recompiles"),
                                                         ("limits", "recompile_limits"), ("failures", "failures"))}, total)


def failures(run, lines):
    named = ("eager", "dynamo", "aotautograd", "inductor", "compiler")
    verdicts = {}
    for v in [run["verdict"], *run["other_verdicts"]]:
        for name, case in lines.items():
            if v["compile"] is not None and inside(run["compiles"][v["compile"]]["location"], case, "fxexplain_failures.py"):
                verdicts[name] = v
    for name in named:
        check(f"{name}: the component that failed", verdicts.get(name, {}).get("component"), name)
        check(f"{name}: evidence is quoted", bool(verdicts.get(name, {}).get("evidence")), True)
    check("what works has no verdict", [n for n in ("fine", "again") if n in verdicts], [])
    caches = {}
    for c in run["caches"]:
        for name, case in lines.items():
            if c["compile"] is not None and inside(run["compiles"][c["compile"]]["location"], case, "fxexplain_failures.py"):
                caches.setdefault(name, []).append((c["cache"], c["what"]))
    check("a new graph is in no cache", sorted(caches.get("fine", [])), [("aotautograd", "miss"), ("fx_graph", "miss")])
    check("the same graph again is", ("aotautograd", "hit") in caches.get("again", []), True)


if __name__ == "__main__":
    globals()[sys.argv[1]](*(json.load(open(p)) for p in sys.argv[2:]))
    print(f"1..{tests}")
