#!/usr/bin/env python3
"""check_document.py DOCUMENT.json [README.md NAME LOG-DIRECTORY] : is it what docs/formats/COMPILATION.md and docs/formats/REPORT.md say?

With a README.md, the numbers are held against the row NAME of its table of logs and against the directory report of the log.
"""
import json
import os
import re
import sys

S, N, B = (str,), (int, float), (bool,)
INT = (int,)
S0, N0, I0 = S + (None,), N + (None,), INT + (None,)
PLACE = {"file": S, "line": I0, "function": S0, "code": S0}
CACHE = {"hit": INT, "miss": INT, "bypass": INT}
WORDS = {"text": S, "text or null": S0, "list of texts": [S], "LOCATION or null": (PLACE, None), "index or null": I0, "number": INT,
         "number or null": I0, "seconds or null": N0, "bool": B, "word": S, '"GB0025" or null': S0, "16 hex digits": S}  # fmt: skip


def tables():
    """docs/formats/COMPILATION.md, which the unit test test_document holds against the code: list -> {member: type}."""
    out = {}
    with open(os.path.join(os.path.dirname(__file__), "../../docs/formats/COMPILATION.md")) as f:
        for name, body in re.findall(r"^### (\w+)$(.*?)(?=^###|\Z)", f.read(), re.M | re.S):
            out[name] = {}
            for member, what in re.findall(r"^\| ([\w, ]+?) \| (.+?) \|", body, re.M)[1:]:
                if what == "SOURCE":
                    out[name] |= {"input": INT, "attempt": I0, "line": I0, "offset": I0, "artifact": I0}
                else:
                    out[name][member] = WORDS.get(what, INT)
    return out


TABLES = tables()
SUMMARY = TABLES.pop("summary") | {"torch_version": S0, "ranks": [INT], "compile_seconds": N0, "cache": dict.fromkeys(("fx_graph", "aotautograd", "fx_graph_bundled", "other"), CACHE)}
WHERE = {"attempt": INT, "line": INT, "location": (PLACE, None)}
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
LOG = {
    "input": INT, "summary": SUMMARY | {"phases": [{"name": S, "seconds": N}]}, "export": (EXPORT, None),
    "provenance": [{"attempt": INT, "pre": I0, "post": I0, "code": I0, "aot": I0, "map": INT, "stacks": I0, "links": LINKS}],
}  # fmt: skip
DOCUMENT = {"tool": S, "version": S, "schema": INT, "summary": SUMMARY, "logs": [LOG]} | {name: [row] for name, row in TABLES.items()}
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
    elif want == {}:
        check(isinstance(value, dict), where, "is no object")
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


def rows(doc, log, name):
    return [r for r in doc[name] if r["input"] == log["input"]]


def log_adds_up(doc, log, where):
    s, ids, made = log["summary"], rows(doc, log, "attempts"), rows(doc, log, "compiles")
    failures, breaks = rows(doc, log, "failures"), rows(doc, log, "graph_breaks")
    keys = {(c["process"], c["generation"], c["id"]) for c in made}
    check(s["compiles"] == len(made) == len(keys), where, "compiles")
    check(s["frames"] == len({(c["process"], c["generation"], c["frame_id"]) for c in made}) == len(rows(doc, log, "frames")), where, "frames")
    check(s["attempts"] == sum(c["compile"] is not None for c in ids) == sum(c["attempts"] for c in made), where, "attempts")
    check(s["recompiles"] == len(rows(doc, log, "recompiles")), where, "recompiles")
    check(s["restarts"] == sum(f["restart"] for f in failures) == sum(c["restarts"] for c in made) + sum(f["restart"] and f["compile"] is None for f in failures), where, "restarts")
    check(s["graph_breaks"] == sum(not b["inferred"] for b in breaks) == sum(c["graph_breaks"] for c in ids), where, "graph breaks")
    check(s["failures"] == sum(not f["restart"] for f in failures), where, "failures")
    check(sum(not f["restart"] and not f["inferred"] for f in failures) == sum(c["fail_type"] is not None for c in ids), where, "failures of attempts")
    check(s["artifacts"] == sum(c["artifacts"] for c in ids), where, "artifacts")
    check(s["damaged"] == len(rows(doc, log, "damage")), where, "damage")
    check(s["unknown_keys"] == sum(k["count"] for k in rows(doc, log, "unknown_keys")), where, "unknown keys")
    check(len({(c["process"], c["generation"], c["dir"]) for c in ids if c["dir"] != "unknown"}) == sum(c["dir"] != "unknown" for c in ids), where, "attempts repeat")
    check(all(c["status"] in ("ok", "break", "empty", "error", "missing") for c in ids), where, "status")
    check([p["seconds"] for p in s["phases"]] == sorted((p["seconds"] for p in s["phases"]), reverse=True), where, "phases are not sorted")
    for c in made:
        check(c["label"] == c["id"] if c["nth"] == 1 else c["label"].startswith(c["id"] + " (%d" % c["nth"]), where, c["label"])
    for a in ids:
        c = doc["compiles"][a["compile"]] if a["compile"] is not None else None
        if c:
            check(a["dir"].rsplit("_", 1)[0] == "_".join("-" if c[k] is None else str(c[k]) for k in ("compiled_autograd_id", "frame_id", "frame_compile_id")), where, a["dir"])
            check((a["process"], a["generation"]) == (c["process"], c["generation"]), where, "generation of", a["dir"])
    for key in ("graph_breaks", "recompiles", "failures", "symbols", "bounds", "caches"):
        for row in rows(doc, log, key):
            check(row["attempt"] is None or doc["attempts"][row["attempt"]]["compile"] == row["compile"], where, key, row)
            check(0 < row["line"] <= s["lines"] and row["offset"] < s["bytes"], where, key, row)
    for row in breaks:
        check(row["gb"] is None or re.fullmatch(r"GB\d{4}", row["gb"]) and "/gb" + row["gb"][2:] + ".html" in row["url"], where, row["gb"], row["url"])


def totals(doc):
    for key in sorted(k for k, v in SUMMARY.items() if v is INT):
        check(doc["summary"][key] == sum(log["summary"][key] for log in doc["logs"]), "the logs'", key, "do not add up")
    for name, cache in doc["summary"]["cache"].items():
        for key in cache:
            check(cache[key] == sum(log["summary"]["cache"][name][key] for log in doc["logs"]), "cache", name, key)
    check(abs((doc["summary"]["compile_seconds"] or 0) - sum(log["summary"]["compile_seconds"] or 0 for log in doc["logs"])) < 1e-4, "seconds")
    check(doc["summary"]["ranks"] == sorted({i["rank"] for i in doc["inputs"]} - {None}), "ranks")
    check(doc["summary"]["logs"] == len(doc["logs"]), "logs")


def against_readme(doc, log, readme, name):
    with open(readme) as f:
        row = re.search(r"^\| %s \| (.*) \|$" % re.escape(name), f.read(), re.M)
    if not row:
        check(False, "README.md has no row", name)
        return
    records, events, ids, attempts, graphs, breaks, recompiles, restarts, code = map(int, re.findall(r"\d+", row[1]))
    s, real = log["summary"], [a for a in doc["attempts"] if a["dir"] != "-_-_-_-"]
    want = {"records": records, "chromium_events": events, "graphs": graphs}
    for key in want:
        check(s[key] == want[key], key, "are", s[key], "not", want[key])
    named = {a["dir"].rsplit("_", 1)[0] for a in real}
    check(len(named) == ids, "compile ids are", len(named), "not", ids)
    check(len({a["dir"] for a in real}) == attempts, "attempts are", len({a["dir"] for a in real}), "not", attempts)
    check(sum(b["artifact"] is not None for b in doc["graph_breaks"]) == breaks, "breaks are not", breaks)
    check(s["recompiles"] == recompiles, "recompiles are", s["recompiles"], "not", recompiles)
    check(s["restarts"] == restarts, "restarts are", s["restarts"], "not", restarts)
    return code


def against_directory(doc, folder, code):
    """Numbered files, the events and the entries of compile_directory.json are those of the document."""
    log = doc["logs"][0]
    with open(os.path.join(folder, "compile_directory.json")) as f:
        directory = json.load(f)
    artifacts = [a for c in directory.values() for a in c["artifacts"]]
    check(len(artifacts) == log["summary"]["artifacts"], len(artifacts), "in compile_directory.json, not", log["summary"]["artifacts"])
    for folder_name in {a["dir"] for a in doc["attempts"]} - {"unknown"}:
        n = folder_name.split("_")
        key = "[" + ("!%s/" % n[0] if n[0] != "-" else "") + "/".join(n[1:3]) + ("_" + n[3] if n[3] not in "-0" else "") + "]"
        want = sum(a["artifacts"] for a in doc["attempts"] if a["dir"] == folder_name)
        check(len(directory.get(key, {"artifacts": ()})["artifacts"]) == want, key, "has not", want)
    with open(os.path.join(folder, "chromium_events.json")) as f:
        check(len(json.load(f)) == log["summary"]["chromium_events"], "events")
    found = sum("/inductor_output_code" in a["url"] for a in artifacts)
    check(code is None or found == code, "output codes are", found, "not", code)
    names = {a["number"]: a["url"] for a in artifacts}
    for key, name in (("graph_breaks", "dynamo_graph_break_reason"), ("recompiles", "recompile_reasons")):
        for row in doc[key]:
            if row["artifact"] is not None:
                url = names.get(row["artifact"], "")
                check("/" + name in url and url.startswith(doc["attempts"][row["attempt"]]["dir"] + "/"), key, row["artifact"], "is", url)
                with open(os.path.join(folder, url)) as f:
                    check(row["reason"].split("\n")[0].split('"')[0] in f.read(), url, "does not say", row["reason"])


with open(sys.argv[1], "rb") as f:
    document = json.loads(f.read().decode())
fits(document, DOCUMENT, "document")
check((document["tool"], document["schema"]) == ("tlparse", 2), document["schema"])
if not bad:
    for i, each in enumerate(document["logs"]):
        log_adds_up(document, each, "logs[%d]" % i)
    totals(document)
    if len(sys.argv) > 2:
        against_directory(document, sys.argv[4], against_readme(document, document["logs"][0], sys.argv[2], sys.argv[3]))
sys.exit(bad > 0)
