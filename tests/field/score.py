#!/usr/bin/env python3
"""Scores fxexplain on the inputs of tests/field.

    tests/field/score.py build [--json] [NAME...]

truth.tsv was written before fxexplain was run on any input. Its columns: the input, its kind, the component at fault, what a right answer must say, what it must
not say (regular expressions over the text, which is one line here; "-" is none), the user's line (FILE:LINE, several joined by "|"), the useful next
step. An answer is
    right   it says what it must, nothing that it must not, and shows the user's line
    part    it says what it must or shows the line, and nothing that it must not
    wrong   it says what it must not, or only something else
    silent  it finds nothing
The next step is counted apart.
"""
import concurrent.futures
import csv
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def rows():
    with open(HERE + "/truth.tsv", newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def answer(build, name):
    (path,) = glob.glob(f"{HERE}/{name}/input.*")
    if path.endswith(".xz"):
        data = subprocess.run(["xz", "-dc", path], capture_output=True, check=True).stdout
    else:
        with open(path, "rb") as f:
            data = f.read()
    env = {k: v for k, v in os.environ.items() if not k.startswith("TORCH")}
    got = subprocess.run([build + "/bin/fxexplain", "-"], input=data, capture_output=True, env=dict(env, COLUMNS="200", NO_COLOR="1"), timeout=60)
    return (got.stdout + got.stderr).decode(errors="replace"), got.returncode


def said(pattern, text):
    return pattern != "-" and re.search(pattern, text, re.I) is not None


def judge(row, text):
    flat = " ".join(text.split())
    must = said(row["must"], flat)
    line = row["line"] == "-" or any(re.search(r"(?<![\w.])" + re.escape(x) + r"(?!\d)", flat) for x in row["line"].split("|"))
    if said(row["must_not"], flat):
        return "wrong"
    if must and line:
        return "right"
    if not flat or re.search("no known problem|nothing (that i know|known)", flat, re.I):
        return "silent"
    return "part" if must or (line and row["line"] != "-") else "wrong"


def main():
    args = [a for a in sys.argv[1:] if a != "--json"]
    build, only = os.path.abspath(args[0]), args[1:]
    todo = [r for r in rows() if not only or r["name"] in only]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda r: answer(build, r["name"]), todo))
    out, totals = [], dict.fromkeys(("right", "part", "wrong", "silent"), 0)
    for row, (text, status) in zip(todo, texts):
        verdict = "crash" if status < 0 else judge(row, text)
        totals[verdict] = totals.get(verdict, 0) + 1
        out.append({"name": row["name"], "kind": row["kind"], "verdict": verdict, "next": said(row["next"], " ".join(text.split())) if row["next"] != "-" else None})
    asked = [o["next"] for o in out if o["next"] is not None]
    if "--json" in sys.argv:
        print(json.dumps({"totals": totals, "next": sum(asked), "next_of": len(asked), "inputs": out}, indent=1))
        return
    for o in out:
        print(f"{o['verdict']:7} {o['name']:20} {o['kind']}" + ("  (no useful next step)" if o["next"] is False else ""))
    print(f"{len(out)} inputs: " + ", ".join(f"{n} {k}" for k, n in totals.items()) + f"; next step {sum(asked)} of {len(asked)}")


if __name__ == "__main__":
    main()
