#!/usr/bin/env python3
"""fail_all.py FAILCALL INJECT.SO|- COMMAND... : runs COMMAND again and again, each time with one call of the kernel (failcall.c) or one
allocation (inject.c) that fails, and prints one line for each that it did not take as it should: nothing, if all is well.

Where it may be run: a folder that has `in`, with what COMMAND reads; COMMAND is run in a folder of its own two below it.
What is right: it ends as without (status, standard output, files); or with 3, 4 or 5, a message, and nothing left behind. What a signal
interrupts changes nothing. Samples; PT2_LONG=1: each call, and each allocation that differs from others in its nearest callers."""
import concurrent.futures
import difflib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading

failcall, inject, command = sys.argv[1], sys.argv[2], sys.argv[3:]
tool = command[0]
whole = bool(os.environ.get("PT2_LONG"))
workers = int(os.environ.get("FAIL_JOBS", 0)) or (os.cpu_count() if whole else 1)
limit = 120
place = threading.local()
places = 0
lock = threading.Lock()
# What differs from run to run.
varies = re.compile(rb'"(at|seconds|pid|tid|time_ns|took_ns|address)":[0-9.]*|_time":[0-9.]*|\d+\.\d+ (s|ms)|\d+ (ms|us|ns)\b')


def files(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, dirs, names in os.walk(folder) for name in names + dirs)


class Outcome:
    def __init__(self, status, out, err, made, left, report):
        self.status, self.err, self.made, self.left, self.report = status, err, made, left, report
        self.text = out
        self.out = hashlib.md5(varies.sub(b"", out)).hexdigest()
        self.files = {name: hashlib.md5(varies.sub(b"", text)).hexdigest() for name, text in made.items()}
        if os.environ.get("FAIL_SHOW"):  # what differs, to be looked at
            self.out = varies.sub(b"", out).decode(errors="replace")

    def same(self, other):
        return (self.status, self.out, self.files) == (other.status, other.out, other.files)


def once(before, settings):
    """COMMAND behind `before`, with these settings; @: the folder of this thread, where `report` gets what failed."""
    global places
    if not hasattr(place, "at"):
        with lock:
            place.at = os.path.abspath(f"w{places}")
            places += 1
    box, tmp = place.at + "/box", place.at + "/tmp"
    for folder in box, tmp:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
    report = os.path.join(place.at, "report")
    if os.path.exists(report):
        os.unlink(report)
    env = dict(os.environ, TMPDIR=tmp, OMP_NUM_THREADS="1", SOURCE_DATE_EPOCH="0", **{k: v.replace("@", place.at) for k, v in settings.items()})
    run = ["timeout", "-s", "KILL", str(limit)] + [w.replace("@", place.at) for w in before] + command
    done = subprocess.run(run, cwd=box, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    made = {}
    for name in files(box):
        path = os.path.join(box, name)
        made[name] = open(path, "rb").read() if os.path.isfile(path) and not os.path.islink(path) else b""
    text = open(report, errors="replace").read() if os.path.exists(report) else ""
    return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="replace"), made, files(tmp), text)


def judge(got, was, must_be_same):
    """What is wrong, or nothing."""
    crash = re.search("^crash.*", got.report, re.M)
    what = got.report.split("\n")[0].split(" ") + ["", ""]
    call = what[1].split("(")[0]
    wrong = []
    if crash:
        wrong.append(crash[0])
    if got.status in (137, -9):
        wrong.append("it hangs")
    elif got.status < 0 or got.status >= 126:
        wrong.append(f"signal or no program: {got.status}")
    elif not got.same(was):
        if got.status == was.status and got.err != was.err and tool + ":" in got.err:
            pass  # less than without, and that is said
        elif "crash" in command and got.status == was.status and re.search(b"cannot (read|open|map) .*: it will not load", got.text):
            pass  # a finding: what the model needs cannot be read here
        elif got.status == was.status and call in ("readlink", "getcwd"):
            pass  # a path is shown in another form
        elif got.status == was.status:
            wrong.append("status as without, and other output" + (f": without {sorted(set(was.made) - set(got.made))}" if list(got.made) != list(was.made) else ""))
        elif must_be_same:
            wrong.append(f"status {got.status} after a call that was interrupted")
        elif "--doctor" in command and got.status == 1 and re.search(b"cannot (read|open|map) ", got.text):
            pass  # a finding: what the model needs cannot be read here
        elif got.status not in (3, 4, 5):
            wrong.append(f"status {got.status}")
        elif got.status == 3 and " to its end" in got.err:
            pass  # a file that ends early: said, and the rest is shown
        elif tool == "fxminify" and set(got.made) <= set(was.made):
            pass  # the smallest that was found until then
        elif got.made and got.files != was.files:  # a result that is whole may be there: it was what came after it that failed
            wrong.append(f"left: {list(got.made)[:4]}")
        if got.status not in (was.status, 1) and not got.err and not (got.status == 5 and got.text) and what[1] != "write(2)":
            wrong.append("no message")
    if got.left and call not in ("unlink", "unlinkat", "rmdir"):
        wrong.append(f"left in TMPDIR: {got.left[:3]}")
    if re.search("Sanitizer|runtime error:", got.err):
        wrong.append("a sanitizer: " + re.search(".*(Sanitizer|runtime error:).*", got.err)[0])
    if wrong and os.environ.get("FAIL_SHOW"):
        sys.stderr.writelines(difflib.unified_diff(was.out.splitlines(True), got.out.splitlines(True), n=0))
    return "; ".join(wrong)


def sample(numbers):
    few = int(os.environ.get("FAIL_SAMPLE", 2))
    if whole or len(numbers) <= few:
        return numbers
    return [numbers[(2 * i + 1) * len(numbers) // (2 * few)] for i in range(few)]


def try_all(kind, numbers, run, must_be_same=False):
    found, bad = {}, 0
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for n, got in zip(numbers, pool.map(run, numbers)):
            wrong = judge(got, was, must_be_same)
            if wrong:
                bad += 1
                words = f"{wrong}; {got.report.splitlines()[0] if got.report else ''}; {got.status}: {got.err.splitlines()[0] if got.err else ''}"
                found.setdefault(re.sub("0x[0-9a-f]+|[0-9]{3,}", "", words), (n, words))
    for n, words in found.values():
        print(f"{kind} {n}: {words}")
    print(f"{kind}: {len(numbers)} tried, {bad} wrong", file=sys.stderr)


was = once([], {})
if was.status > 1 or was.left:
    print(f"without anything: {was.status} {was.err} {was.left}")
    sys.exit(0)
for kind, options in ("call", []), ("interrupted call", ["-i"]):
    count = once([failcall, *options, "-o", "@/report"], {})
    if not count.same(was) or not count.report.startswith("calls "):
        print(f"counting: {count.status} {count.err} {count.report}")
        continue
    total = int(count.report.split()[1])
    # A few more: the second run need not make as many calls as the first.
    every = list(range(1, total + (9 if whole else 1)))
    try_all(kind, sample(every), lambda n, o=options: once([failcall, *o, "-n", str(n), "-o", "@/report"], {}), bool(options))
for who in (tool, tool + "+", "pt2-runner") if inject != "-" else ():
    found = once([], {"LD_PRELOAD": inject, "INJECT_WHO": who, "INJECT_STACKS": "@/report"})
    if not found.same(was):
        print(f"counting allocations: {found.status} {found.err}")
    numbers = sorted({int(n) for n in found.report.split()})
    try_all(f"allocation of {who}", sample(numbers), lambda n, w=who: once([], {"LD_PRELOAD": inject, "INJECT_WHO": w, "INJECT_MALLOC": f"#{n}"}))
