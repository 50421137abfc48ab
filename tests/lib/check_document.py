#!/usr/bin/env python3
"""check_document.py DOCUMENT.json [README.md NAME LOG-DIRECTORY] : is it what docs/REPORT.md says?

With a README.md, the numbers are held against the row NAME of its table of logs and against the directory report of the log.
"""
import json
import os
import re
import sys

S, N, B = (str,), (int, float), (bool,)
INT = (int,)
S0, N0, I0 = S + (None,), N + (None,), INT + (None,)
PLACE = {"file": S, "line": INT, "function": S0, "code": S0}
CACHE = {"hit": INT, "miss": INT, "bypass": INT}
SUMMARY = {
    "torch_version": S0, "logs": INT, "ranks": [INT], "bytes": INT, "lines": INT, "records": INT, "frames": INT, "compiles": INT,
    "recompiles": INT, "restarts": INT, "graph_breaks": INT, "failures": INT, "graphs": INT, "artifacts": INT, "chromium_events": INT,
    "cache": {"fx_graph": CACHE, "aotautograd": CACHE, "fx_graph_bundled": CACHE, "other": CACHE}, "cudagraph_skips": INT,
    "compile_seconds": N, "phases": [{"name": S, "seconds": N}], "unknown_keys": INT, "damaged": INT,
}  # fmt: skip
WHERE = {"compile_id": INT, "line": INT, "location": (PLACE, None)}
COMPILE = {
    "id": S, "dir": S, "compiled_autograd_id": I0, "frame_id": I0, "frame_compile_id": I0, "attempt": I0, "status": S,
    "location": (PLACE, None), "line": INT, "seconds": N0, "backend_seconds": N0, "inductor_seconds": N0, "code_gen_seconds": N0,
    "graph_ops": I0, "graph_nodes": I0, "graph_inputs": I0, "guards": I0, "graph_breaks": INT, "cache_size": I0, "artifacts": INT,
    "restarts": [S], "fail_type": S0, "fail_reason": S0,
}  # fmt: skip
LINES = {}  # line -> lines; what is in it is held against the texts by provenance.t
LINKS = {
    "kernels": [[S + INT]], "codeCalls": [[INT]], "aotCalls": [[INT]], "sources": [[S0 + INT]], "preSource": [[INT]], "postSource": [[INT]],
}  # fmt: skip
for way in ("preToPost", "postToPre", "codeToPost", "postToCode", "aotToPost", "postToAot"):
    LINKS[way] = LINES
EXPORT = {
    "failures": [WHERE | {"kind": S, "expr": S0, "op": S0, "result": S0, "reason": S0, "locals": [S], "symbols": [S], "expression": I0}],
    "expressions": [WHERE | {"result": S0, "method": S0, "arguments": [S], "made_of": [INT]}],
    "expressions_lost": INT, "exported_program": I0, "exported_program_line": I0,
}  # fmt: skip
LIST = INT + (list,)
RANKS = {
    "version": INT, "rank": I0, "records": INT, "start": INT, "end": INT, "torch_version": INT, "names": [S], "compiles": [[INT]],
    "events": [[S + INT]], "spans": [[INT]], "marks": [[S + INT]], "schedules": [[LIST]], "estimates": [[LIST]], "tensors": [[INT]],
    "order": ([INT], None), "parity": [[INT]], "graphs": [[S + INT]], "cut": [INT],
}  # fmt: skip
LOG = {
    "ranks": RANKS,
    "export": (EXPORT, None),
    "provenance": [{"compile_id": INT, "pre": I0, "post": I0, "code": I0, "aot": I0, "map": INT, "stacks": I0, "links": LINKS}],
    "path": S, "rank": I0, "pid": INT, "start": S, "seconds": N, "summary": SUMMARY, "compile_ids": [COMPILE],
    "graph_breaks": [WHERE | {"reason": S, "explanation": S0, "hints": [S], "context": S0, "gb": S0, "url": S0, "source": S, "artifact": I0}],
    "recompiles": [WHERE | {"reason": S, "guard": S0, "old": S0, "new": S0, "all": S, "artifact": INT}],
    "failures": [WHERE | {"type": S, "reason": S0}], "restarts": [{"compile_id": INT, "line": INT, "reason": S}],
    "symbols": [WHERE | {"symbol": S, "value": S0, "range": S0, "source": S0, "unbacked": B}],
    "specializations": [WHERE | {"symbol": S0, "value": S0, "sources": [S], "reason": S0}],
    "cudagraph_skips": [{"compile_id": INT, "reason": S}], "unknown_keys": [{"key": S, "count": INT, "line": INT}],
    "damage": [{"kind": S, "count": INT, "line": INT, "text": S}],
}  # fmt: skip
DOCUMENT = {"schema": S, "generator": S, "summary": SUMMARY, "logs": [LOG]}
bad = 0


def check(good, *what):
    global bad
    if not good:
        bad += 1
        print(*what)


def fits(value, want, where):
    if want is LINES:
        ok = isinstance(value, dict) and all(k.isdigit() and v and all(isinstance(n, int) and n > 0 for n in v) for k, v in value.items())
        check(ok, where, "is no map of lines")
    elif isinstance(want, dict):
        check(isinstance(value, dict) and list(value) and set(value) == set(want), where, "has", sorted(set(value) ^ set(want)) if isinstance(value, dict) else value)
        for key in set(want) & set(value if isinstance(value, dict) else ()):
            fits(value[key], want[key], where + "." + key)
    elif isinstance(want, list):
        check(isinstance(value, list), where, "is no list:", value)
        for i, v in enumerate(value if isinstance(value, list) else ()):
            fits(v, want[0], "%s[%d]" % (where, i))
    elif value is None:
        check(None in want, where, "is null")
    elif isinstance(want[0], (dict, list)):
        fits(value, want[0], where)
    else:
        check(isinstance(value, tuple(t for t in want if t)) and (bool in want or not isinstance(value, bool)), where, "is", repr(value))


def log_adds_up(log, where):
    s, ids = log["summary"], log["compile_ids"]
    real = [c for c in ids if c["frame_id"] is not None and c["frame_compile_id"] is not None]
    keys = {(c["compiled_autograd_id"], c["frame_id"], c["frame_compile_id"]) for c in real}
    check(s["compiles"] == len(keys), where, "compiles")
    check(s["frames"] == len({k[:2] for k in keys}), where, "frames")
    check(s["recompiles"] == sum(k[2] > 0 for k in keys), where, "recompiles")
    check(s["restarts"] == sum(c["attempt"] > 0 for c in real), where, "restarts")
    check(s["graph_breaks"] == len(log["graph_breaks"]) == sum(c["graph_breaks"] for c in ids), where, "graph breaks")
    check(s["failures"] == len(log["failures"]) == sum(c["fail_type"] is not None for c in ids), where, "failures")
    check(s["artifacts"] == sum(c["artifacts"] for c in ids), where, "artifacts")
    check(s["damaged"] == len(log["damage"]), where, "damage")
    check(s["unknown_keys"] == sum(k["count"] for k in log["unknown_keys"]), where, "unknown keys")
    check([r["reason"] for r in sorted(log["restarts"], key=lambda r: r["compile_id"])] == [r for c in ids for r in c["restarts"]], where, "restart reasons")
    check(len({(c["dir"], c["id"]) for c in ids}) == len(ids), where, "compile ids repeat")
    check(all(c["status"] in ("ok", "break", "empty", "error", "missing") for c in ids), where, "status")
    check([p["seconds"] for p in s["phases"]] == sorted((p["seconds"] for p in s["phases"]), reverse=True), where, "phases are not sorted")
    for c in real:
        check(c["dir"] == "_".join("-" if c[k] is None else str(c[k]) for k in ("compiled_autograd_id", "frame_id", "frame_compile_id", "attempt")), where, c["dir"])
    for key in ("graph_breaks", "recompiles", "failures", "restarts", "symbols", "specializations"):
        for row in log[key]:
            check(0 <= row["compile_id"] < len(ids) and 0 < row["line"] <= s["lines"], where, key, row)
    for row in log["graph_breaks"]:
        check((row["source"] == "artifact") == (row["artifact"] is not None), where, "source of", row)
        check(row["gb"] is None or re.fullmatch(r"GB\d{4}", row["gb"]) and "/gb" + row["gb"][2:] + ".html" in row["url"], where, row["gb"], row["url"])


def totals(doc):
    for key in ("logs", "bytes", "lines", "records", "frames", "compiles", "recompiles", "restarts", "graph_breaks", "failures", "graphs", "artifacts",
                "chromium_events", "cudagraph_skips", "unknown_keys", "damaged"):
        check(doc["summary"][key] == sum(log["summary"][key] for log in doc["logs"]), "the logs'", key, "do not add up")
    for name, cache in doc["summary"]["cache"].items():
        for key in cache:
            check(cache[key] == sum(log["summary"]["cache"][name][key] for log in doc["logs"]), "cache", name, key)
    check(abs(doc["summary"]["compile_seconds"] - sum(log["summary"]["compile_seconds"] for log in doc["logs"])) < 1e-4, "seconds")
    check(doc["summary"]["ranks"] == sorted({log["rank"] for log in doc["logs"]} - {None}), "ranks")
    check(doc["summary"]["logs"] == len(doc["logs"]), "logs")


def against_readme(log, readme, name):
    with open(readme) as f:
        row = re.search(r"^\| %s \| (.*) \|$" % re.escape(name), f.read(), re.M)
    if not row:
        check(False, "README.md has no row", name)
        return
    records, events, ids, attempts, graphs, breaks, recompiles, restarts, code = map(int, re.findall(r"\d+", row[1]))
    s, real = log["summary"], [c for c in log["compile_ids"] if c["frame_id"] is not None or c["compiled_autograd_id"] is not None]
    want = {"records": records, "chromium_events": events, "graphs": graphs}
    for key in want:
        check(s[key] == want[key], key, "are", s[key], "not", want[key])
    check(len({c["id"] for c in real}) == ids, "compile ids are", len({c["id"] for c in real}), "not", ids)
    check(len(real) == attempts, "attempts are", len(real), "not", attempts)
    check(sum(b["source"] == "artifact" for b in log["graph_breaks"]) == breaks, "breaks are not", breaks)
    check(len(log["recompiles"]) == recompiles, "recompiles are", len(log["recompiles"]), "not", recompiles)
    check(len(log["restarts"]) == restarts, "restarts are", len(log["restarts"]), "not", restarts)
    return code


def against_directory(doc, folder, code):
    """Numbered files, the events and the entries of compile_directory.json are those of the document."""
    log = doc["logs"][0]
    with open(os.path.join(folder, "compile_directory.json")) as f:
        directory = json.load(f)
    artifacts = [a for c in directory.values() for a in c["artifacts"]]
    check(len(artifacts) == log["summary"]["artifacts"], len(artifacts), "in compile_directory.json, not", log["summary"]["artifacts"])
    for c in log["compile_ids"]:
        key = "[" + ("!%d/" % c["compiled_autograd_id"] if c["compiled_autograd_id"] is not None else "")
        key += "/".join("-" if c[k] is None else str(c[k]) for k in ("frame_id", "frame_compile_id")) + ("_%d" % c["attempt"] if c["attempt"] else "") + "]"
        check(len(directory.get(key, {"artifacts": ()})["artifacts"]) == c["artifacts"], key, "has not", c["artifacts"])
    with open(os.path.join(folder, "chromium_events.json")) as f:
        check(len(json.load(f)) == log["summary"]["chromium_events"], "events")
    found = sum("/inductor_output_code" in a["url"] for a in artifacts)
    check(code is None or found == code, "output codes are", found, "not", code)
    names = {a["number"]: a["url"] for a in artifacts}
    for key, name in (("graph_breaks", "dynamo_graph_break_reason"), ("recompiles", "recompile_reasons")):
        for row in log[key]:
            if row["artifact"] is not None:
                url = names.get(row["artifact"], "")
                check("/" + name in url and url.startswith(log["compile_ids"][row["compile_id"]]["dir"] + "/"), key, row["artifact"], "is", url)
                with open(os.path.join(folder, url)) as f:
                    check(row["reason"].split("\n")[0].split('"')[0] in f.read(), url, "does not say", row["reason"])


with open(sys.argv[1], "rb") as f:
    document = json.loads(f.read().decode())
fits(document, DOCUMENT, "document")
check(document["schema"] == "pt2utils.tlparse/1", document["schema"])
if not bad:
    for i, each in enumerate(document["logs"]):
        log_adds_up(each, "logs[%d]" % i)
    totals(document)
    if len(sys.argv) > 2:
        against_directory(document, sys.argv[4], against_readme(document["logs"][0], sys.argv[2], sys.argv[3]))
sys.exit(bad > 0)
