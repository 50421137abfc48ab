"""What every tool says of packages and traces that a torch has made, where no person is needed to say whether it is right.

packages(...) and traces(...) give {"TOOL: check": {subject: problem, "" where there is none}}; made(...) what packages and logs are made of.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from installed import SCRIPTS, read_text

COUNTER = SCRIPTS.parent / "tests/lib/count_trace.py"


def brief(text):
    """Two lines, folders away: a page holds no paths of a machine."""
    return re.sub(r"(?<![\w.:/])/(?:[^\s/:']+/)+", "", " / ".join(text.strip().splitlines()[:2]))


def said(*argv, ok=(0,), timeout=600, libraries=None):
    """(standard output, "" or why it is not as it should be); libraries: a folder of some"""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)} if libraries else None
    try:
        r = subprocess.run([str(a) for a in argv], capture_output=True, text=True, errors="replace", timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        return "", f"not done after {timeout} s"
    except OSError as e:
        return "", f"{argv[0]}: {e.strerror}"
    return r.stdout, "" if r.returncode in ok else f"status {r.returncode}: {brief(r.stderr or r.stdout)}"


def beyond(*argv, **how):
    """said(); where a library is missing, that, and what is said when an empty one has its name: one fault hides no other."""
    told = []
    with tempfile.TemporaryDirectory() as libraries:
        while True:
            out, wrong = said(*argv, libraries=libraries, **how)
            missing = re.search(r"([\w.+-]+): cannot open shared object file", wrong)
            if not missing or wrong in told:
                return out, "; with an empty one: ".join(told + [wrong or "runs"] * bool(told or wrong))
            told.append(wrong)
            said("cc", "-shared", f"-Wl,-soname,{missing[1]}", "-o", f"{libraries}/{missing[1]}", "-x", "c", "/dev/null")


def document(*argv, ok=(0, 1, 5), by=said):
    out, wrong = by(*argv, ok=ok)
    try:
        return json.loads(out), wrong
    except ValueError:
        return {}, wrong or "no JSON document"


# ---- packages ----


def runs(package, given, weights, out):
    """pt2-run; where it says that it wants weights, with them."""
    for extra in ([], [f"--weights={weights}"]):
        wrong = beyond("pt2-run", "-q", *extra, "-o", out, package, given)[1]
        if "--weights" not in wrong:
            break
    return extra, wrong


def not_understood(doc, *counts):
    n = sum(doc.get(c, 0) for c in counts)
    return "; ".join(note for note in doc.get("notes", []) if "not understood" in note)[:300] or (f"{n} places" if n else "")


def computed_otherwise(doc):
    found = [f"{f['kernel']} for {f['node']['name']} ({r['inputs']})" for r in doc["runs"] if r["counts"] for f in r["findings"]]
    return "; ".join(found + [f"weight {w['path']}" for w in doc["weights"]])


def package(zoo, name, work, torch_lib):
    """(check, problem) of one."""
    path, given, exported = (zoo / f"{name}{end}" for end in (".pt2", ".in.pt", ".exported.pt2"))
    weights, wrong = runs(path, given, zoo / f"{name}.weights.pt", work / f"{name}.out.pt")
    yield "pt2-run: runs, and gives what eager gave", wrong
    doc, wrong = document("aoti-checkinputs", "--probe", "--json", path)
    yield "aoti-checkinputs: contract and prober agree", wrong or "; ".join(doc.get("differences", []) + doc.get("open", []))
    doc, wrong = document("aoti-checkinputs", "--json", path)
    yield "aoti-checkinputs: 0 not understood", wrong or not_understood(doc, "unread", "unread_checks")
    yield "aoti-checkinputs: the call fits", said("aoti-checkinputs", "-q", path, given)[1]
    yield "aoti-checkinputs: it takes what was exported", said("aoti-checkinputs", f"--against={exported}", path)[1]
    doc, wrong = document("aoti-checkinputs", "--doctor", "--json", f"--torch={torch_lib}", path)
    # That some models have their weights elsewhere is meant so.
    found = [c for c in doc.get("findings", []) if c["level"] not in ("ok", "note") and c["id"] != "weights-elsewhere"]
    yield "aoti-checkinputs: --doctor finds nothing in the way", wrong or "; ".join(c["what"] for c in found)
    doc, wrong = document("aoti-nanassert", "--json", *weights, path, given, ok=(0,), by=beyond)
    yield "aoti-nanassert: runs, finds nothing, 0 not understood", wrong or not_understood(doc, "unread")
    # Operators at random and the like cannot be verified: 5.
    doc, wrong = document("aoti-verify", "--json", *weights, exported, path, given, ok=(0, 1, 5), by=beyond)
    yield "aoti-verify: no kernel computes something else", wrong or computed_otherwise(doc)
    dump = work / f"{name}.dump"
    wrong = beyond("aoti-printer", "-q", "-l", "1", "--overwrite", *weights, "-o", dump, path, given)[1]
    calls = read_text(dump / "calls.jsonl").count('"call":') if not wrong else 0
    yield "aoti-printer: runs", wrong or ("" if calls or not doc.get("calls") else "no call was seen")
    yield "fxexplain: kernel", said("fxexplain", "kernel", path)[1]
    yield "fxminify: reads the exported program", reads(exported)


def reads(path, *options):
    with tempfile.TemporaryDirectory() as d:
        return said("fxminify", "-q", "-l", "1", "-t", "true", "--no-journal", *options, "-o", f"{d}/x.json", path)[1]


def packages(zoo, models, work, python, site):
    found = collections.defaultdict(dict)
    work.mkdir(parents=True, exist_ok=True)
    for old in work.glob("*.out.pt"):
        old.unlink()
    for name in models:
        for check, problem in package(zoo, name, work, site / "torch/lib"):
            found[check][name] = problem
    agreed, wrong = said(python, SCRIPTS.parent / "tests/live/track_zoo.py", "agree", zoo, work)
    if wrong:
        raise RuntimeError(f"track_zoo.py agree: {wrong}")
    for line in agreed.splitlines():
        name, what = line.split(" ", 1)
        found["pt2-run: runs, and gives what eager gave"][name] = "" if what == "ok" else what
    return found


# ---- traces ----

SUMS = ("compiles", "frames", "restarts", "recompiles", "graph_breaks", "failures", "graphs")


def numbers(doc):
    """Of a document, as count_trace.py has them."""
    s = doc["summary"]
    special = s["specializations"] if "specializations" in s else len(doc["specializations"])
    cache = {c: {k: s["cache"][c][k] for k in ("hit", "miss")} for c in ("fx_graph", "aotautograd")}
    return {**{k: s[k] for k in SUMS}, "cache": cache, "symbols": len(doc["symbols"]), "specializations": special}


def miscounted(doc, true):
    try:
        found = numbers(doc)
    except KeyError as e:
        return f"the document has no {e}"
    return "; ".join(f"{k} {found[k]}, not {true[k]}" for k in found if found[k] != true.get(k))


def gave_up(text):
    """What fxexplain report holds for settings that the program made."""
    return re.findall(r"^- (.*)", re.split(r"^Settings that are not .*$", text, maxsplit=1, flags=re.M)[-1].split("\n\n", 2)[1], re.M) if "\nSettings that are not" in text else []


def trace(log, work, registry, plain):
    """(check, problem) of a log; plain: its program sets nothing."""
    counted = said("python3", COUNTER, log)[0]
    true = json.loads(counted)["numbers"] if counted else {}
    for tool in ("tlparse", "fxexplain"):
        doc, wrong = document(tool, "-q", "--json", log, ok=(0, 1))
        yield f"{tool}: counts are the independent counter's", wrong or miscounted(doc, true)
        damaged = doc.get("summary", {}).get("damaged")
        yield f"{tool}: 0 unknown keys, 0 damaged", wrong or ", ".join([u["key"] for u in doc.get("unknown_keys", [])] + [f"{damaged} damaged"] * bool(damaged))
    written = {f"GB{n}" for n in re.findall(r"/gb/gb(\d+)\.html", read_text(log))}
    shown = {b["gb"] for b in doc.get("graph_breaks", []) if b["gb"]}
    yield "fxexplain: break ids are those of the log, and in the registry", ", ".join(sorted((shown - written) | (shown - registry)))
    report, wrong = said("fxexplain", "report", log)
    yield "fxexplain: 0 unknown settings", wrong or (", ".join(gave_up(report)) if plain else "")
    folder = work / log.stem
    wrong = said("tlparse", "-q", "--overwrite", "-o", folder, log)[1]
    yield "tlparse: its folder", wrong
    yield "tlparse: its page", said("tlparse", "-q", f"--html={work / log.stem}.html", log)[1]
    graphs = re.findall(r"^(\S+:\w+)  \(.* nodes?\)$", said("sh", "-c", 'fxminify --graph "?" "$1" 2>&1', "sh", log, ok=(2,))[0], re.M)
    if graphs:
        yield "fxminify: reads the graphs", "; ".join(f"{g}: {w}" for g in graphs if (w := reads(log, "--graph", g)))
    launchers = sorted(folder.rglob("*fx_graph_runnable*"))
    if launchers:
        yield "fxminify: reads the launchers", "; ".join(f"{p.name}: {w}" for p in launchers if (w := reads(p)))


def program(name):
    folders = ("tests/live/causes", "scripts/fixtures/traces")
    return next((p for f in folders if (p := SCRIPTS.parent / f / f"{name}.py").exists()), None)


def sets_something(name):
    return re.search(r"config\.|options=|mode=|environ", read_text(program(name)))


def logs(recorded, name):
    return sorted((recorded / name / "trace").glob("*.log"))


def traces(recorded, programs, work, registry):
    """work: a folder a program, what tlparse makes of its logs."""
    found = collections.defaultdict(dict)
    for name in sorted(programs):
        shutil.rmtree(work / name, ignore_errors=True)
        (work / name).mkdir(parents=True)
        for log in logs(recorded, name):
            for check, problem in trace(log, work / name, registry, not sets_something(name)):
                found[check][name] = found[check].get(name) or problem
    return found


# ---- what was made ----


def elf_facts(path):
    out = said("readelf", "-dW", path)[0]
    return {"NEEDED " + n for n in re.findall(r"\(NEEDED\).*\[(.*)\]", out)} | {n for n in re.findall(r" U (aoti_torch\w+|torch_\w+)", said("nm", "-D", "-u", path)[0])}


def package_facts(path):
    facts = set()
    with zipfile.ZipFile(path) as z, tempfile.TemporaryDirectory() as d:
        for name in z.namelist():
            if name.endswith(".wrapper.so"):
                facts |= elf_facts(z.extract(name, d))
            elif name.endswith("wrapper.cpp"):
                text = z.read(name).decode(errors="replace")
                body = text[max(text.find("::run_impl("), 0):]
                facts |= {re.sub(r"_\d+$", "_N", w) for w in re.findall(r"\b(?:assert_\w+|AOTI_\w+|RAII\w+|cached_torch_\w+|_?aoti_\w+|wrap_\w+)\b", body)} - facts
            elif name.endswith("_metadata.json"):
                facts |= {f"metadata {k}" for k in json.loads(z.read(name))}
    return facts


def log_facts(log):
    """Keys, artifacts, phases and metrics of a log."""
    facts = set()
    for line in read_text(log).splitlines():
        if (at := line.find("] {")) > 0 and not line.startswith("\t"):
            envelope = json.loads(line[at + 2:])
            facts |= {f"key {k}" for k in envelope}
            for kind in ("compilation_metrics", "bwd_compilation_metrics"):
                facts |= {f"{kind} {k}" for k in envelope.get(kind) or {}}
            if isinstance(envelope.get("artifact"), dict):
                name = re.sub(r"_(?:ORIGINAL|MODIFIED)_BYTECODE$", "", envelope["artifact"].get("name", ""))
                facts.add("artifact " + re.sub(r"\d+", "N", name) if name == envelope["artifact"].get("name") else "artifact *_BYTECODE")
        elif line.startswith('\t"name": '):
            facts.add("event " + re.sub(r"\d+", "N", line[10:].strip(' ",')))
    return facts


def launcher_lines(folder):
    """What stands around the graph, numbers and names away."""
    found = set()
    for path in folder.rglob("*fx_graph_runnable*"):
        outside = re.sub(r"^class .*?(?=^\S)", "", read_text(path), flags=re.S | re.M)
        found |= {re.sub(r"0x\w+|'[0-9a-f]{16,}'|/\S+", "_", re.sub(r"\b\d+", "N", line.strip())) for line in outside.splitlines() if line.strip() and not line.startswith("#") and "config." not in line}
    return found


def made(zoo, models, recorded, programs, work):
    """{heading: {model or program: [item]}}"""
    found = {
        "Packages": {n: package_facts(zoo / f"{n}.pt2") for n in models},
        "Traces": {n: set().union(*map(log_facts, logs(recorded, n))) for n in programs},
        "Launchers": {n: launcher_lines(work / n) for n in programs},
    }
    return {h: {n: sorted(items) for n, items in of.items()} for h, of in found.items()}
