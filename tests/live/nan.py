"""aoti-nanassert on the zoo: nan.py ZOO [OPTION...]. Prints TAP. Options are passed on (--torch=DIR).

The kernel it names must be one that holds the operator which torch found to make the first NaN (or, with --inf, the first infinity);
nothing may be found with good inputs, nor in models of other kinds, whose masks of -inf are meant.
"""
import glob
import json
import os
import subprocess
import sys

ZOO, OPTIONS = sys.argv[1], sys.argv[2:]
tests = failed = 0


def report(what, why):
    global tests, failed
    tests += 1
    failed += bool(why)
    print(f"{'not ' if why else ''}ok {tests} - {what}")
    if why:
        print("#  ", why)


def nanassert(name, inputs, *options):
    """(status, document or None, what it said)"""
    command = ["aoti-nanassert", "--json", *OPTIONS, *options, f"{ZOO}/{name}.pt2", f"{ZOO}/{name}.{inputs}.pt"]
    child = subprocess.run(command, capture_output=True, text=True, timeout=120)
    try:
        return child.returncode, json.loads(child.stdout), child.stderr.strip()
    except ValueError:
        return child.returncode, None, child.stderr.strip()


def first(document):
    f = document["findings"][0]
    return f"{f['kernel']} ({f['what']}, {f['kind']})"


def planted(name, kind, kernels):
    options, kinds = (["--inf"], ("nan", "inf")) if kind == "inf" else ([], ("nan",))
    status, document, said = nanassert(name, "in", *options)
    if not document or not document["findings"]:
        why = f"nothing was found, status {status}: {said or document}"
    elif status != 1 or document["findings"][0]["kernel"] not in kernels or document["findings"][0]["what"] not in kinds:
        why = f"named {first(document)}, status {status}; {kind} comes from {' or '.join(kernels)}"
    else:
        why = ""
    report(f"{name}: the first {kind} is found where it is made", why)


def clean(name, inputs):
    status, document, said = nanassert(name, inputs)
    if document and document["findings"]:
        why = f"false alarm: {first(document)}"
    else:
        why = "" if document and status == 0 and not document["failure"] else f"status {status}: {said or document['failure']}"
    report(f"{name}: nothing is found with good inputs", why)


for path in sorted(glob.glob(f"{ZOO}/*.json")):
    with open(path) as f:
        facts = json.load(f)
    if "bad" not in facts:
        clean(facts["name"], "in")
        continue
    for kind, made in facts["bad"].items():
        planted(facts["name"], kind, made["kernels"])
    clean(facts["name"], "good")
print(f"# {tests - failed} of {tests}")
sys.exit(1 if failed else 0)
