#!/usr/bin/env python3
"""compare_verdicts.py VERDICTS.jsonl PACKAGES [EVERY] : hold aoti-checkinputs against what torch said, call by call; prints TAP
lines without numbers and plan.

VERDICTS is what scripts/fixtures/verdicts.py wrote, PACKAGES the folder of the unpacked packages. The tool must call a
call wrong exactly when torch refused it, and the first of its findings that has words of AOTI's must have torch's. With
EVERY only each so-manyth call is looked at. With BARE=1 in the environment the tool gets the libraries alone, without any
text, so that their contracts come from the prober.
"""
import collections
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

verdicts, packages, every = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["1"])[0])
bare = tempfile.TemporaryDirectory() if os.environ.get("BARE") else None


def find(package, model):
    """The arguments that mean this model."""
    old = package == "old"
    file = glob.glob(f"{packages}/old/*.so")[0] if old else f"{packages}/{package}.pt2"
    if not bare:
        return [file] if model == "model" else ["--model", model, file]
    folder = f"{bare.name}/{package}-{model}"
    if not os.path.exists(folder):
        os.mkdir(folder)
        with open(f"{folder}/model.so", "wb") as out, open(file, "rb") if old else zipfile.ZipFile(file) as f:
            if old:
                shutil.copyfileobj(f, out)
            else:
                out.write(f.read(next(n for n in f.namelist() if f"/{model}/" in n and n.endswith(".so"))))
    return [f"{folder}/model.so"]


def ask(case, operands):
    p = subprocess.run(["aoti-checkinputs", "--json", *case["find"], *operands], capture_output=True, text=True, timeout=60)
    if p.returncode not in (0, 1) or bool(p.stderr) != bool(bare):
        return f"status {p.returncode}: {p.stderr.strip()[:300]}"
    said = json.loads(p.stdout)
    if said["fits"] != (p.returncode == 0):
        return f"status {p.returncode}, and fits is {said['fits']}"
    found = [f for f in said["findings"] if not f["advice"]]
    if said["fits"] != (not found):
        return f"{len(found)} findings, and fits is {said['fits']}"
    if case["error"] is None:
        return f"torch takes it, but: {found[0]}" if found else None
    if not found:
        return "nothing found"
    if case.get("loose"):
        return None
    first = next((f for f in found if f["aoti"]), None)
    if not first:
        return "found, but nothing in AOTI's words"
    if first["aoti"] != case["error"]:
        return f"in other words: {first['aoti']!r}"
    return None if first["aoti_exact"] else "these words were said to be loose"


def look(case):
    wrong = ask(case, case["inputs"])
    if wrong is None and "operands" in case:
        wrong = ask(case, case["operands"])
        wrong = wrong and f"{case['operands']}: {wrong}"
    return wrong and f"{' '.join(case['inputs'])}: torch: {case['error']!r}: {wrong}"


with open(verdicts) as f:
    cases = [json.loads(line) for line in f][::every]
for case in cases:
    case["find"] = find(case["package"], case["model"])
results = collections.defaultdict(list)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for case, wrong in zip(cases, pool.map(look, cases)):
        results[case["package"], case["model"]].append((case, wrong))
for (package, model), of_it in results.items():
    wrong = [w for _, w in of_it if w]
    fit, loose = sum(c["error"] is None for c, _ in of_it), sum("loose" in c for c, _ in of_it)
    files = sum("operands" in c for c, _ in of_it)
    name = (package if model == "model" else f"{package}, {model}") + (", the library alone" if bare else "")
    what = f"{name}: {len(of_it)} calls, of which {fit} fit{f', {loose} loosely' if loose else ''}{f', {files} from files too' if files else ''}"
    print(f"{'not ' if wrong else ''}ok - {what}", *[f"#   {w}" for w in wrong[:5]], *[f"#   and {len(wrong) - 5} more"] * (len(wrong) > 5), sep="\n")
sys.exit(len(cases) < 2)
