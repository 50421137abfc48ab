#!/usr/bin/env python3
"""mangle.py truncate|flip|random LOG : damage a log in many ways; tlparse must read what is left, each time.

Prints what went wrong, and ends in 1 when something did.
"""
import os
import random
import shutil
import subprocess
import sys

import report

bad = 0


def complain(*what):
    global bad
    bad += 1
    if bad < 20:
        print(*what)


def tlparse(what, data, *mode):
    """Status and standard output; complains of signals, hangs and chatter."""
    with open("mangled.log", "wb") as f:
        f.write(data)
    try:
        p = subprocess.run(["tlparse", "mangled.log", *mode], capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        complain(what, mode, "hangs")
        return None, b""
    if p.returncode not in (0, 3):
        complain(what, mode, "status", p.returncode, p.stderr[:300])
    if p.stderr.count(b"\n") > 1:
        complain(what, mode, "more than one line:", p.stderr[:300])
    return p.returncode, p.stdout


def document(what, data):
    status, out = tlparse(what, data, "--json")
    if status != 0:
        if out:
            complain(what, "output with status", status)
        return status, None
    try:
        return 0, report.strict(out)
    except ValueError as e:
        complain(what, "is no JSON:", e)
        return 0, None


def page(what, data):
    status, out = tlparse(what, data, "--html")
    try:
        return report.Page(out) if status == 0 else None
    except (ValueError, AssertionError) as e:
        complain(what, "--html:", e)


def folder(what, data):
    shutil.rmtree("mangled", ignore_errors=True)
    status, _ = tlparse(what, data, "-o", "mangled")
    if status:
        if os.path.exists("mangled"):
            complain(what, "a folder with status", status)
        return
    with open("mangled/raw.log", "rb") as f:
        if f.read() != data:
            complain(what, "raw.log is not the log")
    for name in ("compile_directory.json", "chromium_events.json"):
        with open("mangled/" + name, "rb") as f:
            report.strict(f.read())


def damage(log):
    return [(d["kind"], d["count"], d["line"]) for d in log["damage"]]


def truncate(whole):
    """Cut anywhere: every record before the cut is there, and the damage is at the record that was cut."""
    rng = random.Random(1)
    middle = len(whole) // 2
    start_of_line = whole.index(b"\nV", middle) + 1
    places = {0, 1, 20, 60, len(whole) - 1, len(whole)} | set(range(start_of_line - 12, start_of_line + 64, 4))
    places |= set(range(start_of_line - 3, start_of_line + 3)) | {rng.randrange(len(whole)) for _ in range(36)}
    for n, at in enumerate(sorted(places)):
        data, what = whole[:at], "cut at %d:" % at
        rows = report.records(data)
        good = [r for r in rows if r[1] is not None]
        want = [("truncated", 1, rows[-1][0])] if rows and (rows[-1][1] is None or not rows[-1][3]) else []
        status, doc = document(what, data)
        if not good:
            if status != 3:
                complain(what, "status", status, "without a record")
            continue
        if not doc:
            complain(what, "status", status)
            continue
        if doc["summary"]["records"] != len(good):
            complain(what, doc["summary"]["records"], "records, not", len(good))
        if damage(doc) != want:
            complain(what, damage(doc), "is not", want)
        if n % 3 == 0:
            p = page(what, data)
            if p and damage(p.model) != want:
                complain(what, "the page says", damage(p.model))
            folder(what, data)


def flip(whole):
    """One byte of an envelope line changed: the other records are there; the report is whole."""
    rng = random.Random(2)
    whole += b"" if whole.endswith(b"\n") else b"\n"
    total = len(report.records(whole))
    starts = [0] + [i + 1 for i in range(len(whole) - 1) if whole[i : i + 1] == b"\n" and whole[i + 1 : i + 2] == b"V"]
    for n in range(90):
        start = rng.choice(starts)
        at = rng.randrange(start, whole.index(b"\n", start) + 1)
        to = rng.choice([rng.randrange(256), whole[at] ^ 1 << rng.randrange(8), ord(rng.choice('"\\{}[]\n\t,:0\x00\xff'))])
        data, what = whole[:at] + bytes([to]) + whole[at + 1 :], "byte %d is %d:" % (at, to)
        status, doc = document(what, data)
        if doc and not total - 2 <= doc["summary"]["records"] <= total + 1:
            complain(what, doc["summary"]["records"], "records of", total)
        if status:
            complain(what, "status", status)
        if n % 4 == 0:
            page(what, data)
            folder(what, data)


def noise(whole):
    """Random bytes alone, and between records."""
    rng = random.Random(3)
    for size in (1, 100, 5000, 200000):
        what, data = "%d random bytes:" % size, rng.randbytes(size)
        if document(what, data)[0] != 3:
            complain(what, "they are no log")
        page(what, data)
        folder(what, data)
    lines = whole.split(b"\nV")
    total = len(report.records(whole))
    for n in range(10):
        data = b"\n".join(
            (b"V" if i else b"") + line + (b"\n" + rng.randbytes(300).replace(b"\t", b"") if rng.random() < 0.2 else b"") for i, line in enumerate(lines)
        )
        what = "noise %d:" % n
        _, doc = document(what, data)
        if doc and doc["summary"]["records"] != total:
            complain(what, doc["summary"]["records"], "records, not", total)
        page(what, data)
        folder(what, data)


with open(sys.argv[2], "rb") as f:
    {"truncate": truncate, "flip": flip, "random": noise}[sys.argv[1]](f.read())
print(bad, "complaints")
sys.exit(bad > 0)
