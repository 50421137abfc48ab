#!/usr/bin/env python3
"""compare_verdicts.py VERDICTS.jsonl PACKAGES [EVERY] : hold aoti-checkinputs against what torch said, call by call, as TAP.

VERDICTS is what scripts/fixtures/verdicts.py wrote, PACKAGES the folder of the unpacked packages. The tool must call a
call wrong exactly when torch refused it, and the first of its findings that has words of AOTI's must have torch's. With
EVERY only each so-manyth call is looked at.
"""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

verdicts, packages, every = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["1"])[0])


def ask(case, operands):
    file = f"{packages}/{case['package']}.pt2" if case["package"] != "old" else glob.glob(f"{packages}/old/*.so")[0]
    which = [] if case["model"] == "model" else ["--model", case["model"]]
    p = subprocess.run(["aoti-checkinputs", "--json", *which, file, *operands], capture_output=True, text=True, timeout=60)
    if p.returncode not in (0, 1) or p.stderr:
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
results = collections.defaultdict(list)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for case, wrong in zip(cases, pool.map(look, cases)):
        results[case["package"], case["model"]].append((case, wrong))
for number, ((package, model), of_it) in enumerate(results.items(), 1):
    wrong = [w for _, w in of_it if w]
    fit, loose = sum(c["error"] is None for c, _ in of_it), sum("loose" in c for c, _ in of_it)
    files = sum("operands" in c for c, _ in of_it)
    name = package if model == "model" else f"{package}, {model}"
    what = f"{name}: {len(of_it)} calls, of which {fit} fit{f', {loose} loosely' if loose else ''}{f', {files} from files too' if files else ''}"
    print(f"{'not ' if wrong else ''}ok {number} - {what}", *[f"#   {w}" for w in wrong[:5]], *[f"#   and {len(wrong) - 5} more"] * (len(wrong) > 5), sep="\n")
print(f"{'not ' if len(cases) < 2 else ''}ok {len(results) + 1} - there are calls\n1..{len(results) + 1}")
