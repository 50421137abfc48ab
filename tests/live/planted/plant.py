"""Programs with a planted NaN, for planted.t: the truth is written before the tool runs; one that eager refutes says so.

    python3 plant.py SET [NAME...]        # runs the programs of SET.py, a fork each; prints "NAME PID"
    PLANTED_DEVICE=cuda ...               # ... on a GPU
    python3 plant.py SET --judge FILE     # FILE: what aoti-nanassert --all --json wrote of that; these lines on standard input

A set has functions marked @planted(CAUSE, kind): CAUSE, a regular expression, is what the first finding gives as its reason, or as the
expression; the line is the one marked HERE. With kind "input" or "constant", CAUSE is the name of the tensor; "none": nothing is reported."""
import importlib
import inspect
import json
import os
import re
import sys

PROGRAMS = {}


def planted(cause="", kind="produced"):
    def add(f):
        PROGRAMS[f.__name__] = (f, cause, kind)
        return f

    return add


def line_of(f):
    lines, first = inspect.getsourcelines(getattr(f, "marked", f))
    return next((first + i for i, text in enumerate(lines) if text.rstrip().endswith("# HERE")), None)


def run(names):
    import torch

    sys.path += os.environ.get("PLANTED_MORE", "").split(":") if "PLANTED_MORE" in os.environ else []
    torch.set_num_threads(1)
    for name in names or PROGRAMS:
        pid = os.fork()
        if not pid:
            if "PLANTED_DEVICE" in os.environ:
                torch.set_default_device(os.environ["PLANTED_DEVICE"])
            torch.manual_seed(0)
            print(name, os.getpid(), flush=True)
            try:
                PROGRAMS[name][0](torch)
            except Exception as e:
                print("# %s: %s: %s" % (name, type(e).__name__, str(e)[:300]), flush=True)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(pid, 0)


def judge_one(name, x):
    """(the cause is right, the line is right, what was said)"""
    f, cause, kind = PROGRAMS[name]
    if kind == "none" or not x:
        return (kind == "none") == (not x), (kind == "none") == (not x), "nothing" if not x else "%s in %s" % (x["kind"], x["kernel"])
    why = x.get("why") or {}
    if kind != "produced":
        named = x["values"][x["cause"]] if x["cause"] is not None else {}
        said = "%s %s" % (x["kind"], named.get("path") or named.get("buffer"))
        good = x["kind"] == kind and bool(re.search(cause, said))
        return good, good, said
    line = line_of(f)
    at = re.search(r":(\d+) in ", why.get("python") or (x["python"] or [""])[-1])
    told = "%s | %s" % (why.get("reason", ""), why.get("text", why.get("unknown", why.get("status", x["kind"]))))
    return why.get("status") == "found" and bool(re.search(cause, told)), bool(at) and int(at.group(1)) == line, "%s | line %s of %s" % (told, at and at.group(1), line)


def judge(document, names):
    with open(document, encoding="utf-8") as f:
        d = json.load(f)
    first = {}
    for x in d["findings"]:
        first.setdefault(x["pid"], x)
    causes = lines = n = 0
    for text in names:
        name, _, pid = text.strip().partition(" ")
        if name not in PROGRAMS or not pid.isdigit():
            print("#", text.rstrip()[:300])  # of the program's own, or why one failed
            continue
        cause, line, said = judge_one(name, first.get(int(pid)))
        n, causes, lines = n + 1, causes + cause, lines + line
        print("%s - %s: %s%s" % ("ok" if cause and line else "not ok", name, said, "" if cause else " (expected: %s)" % (PROGRAMS[name][1] or "nothing")))
    print("# causes %d of %d, lines %d of %d" % (causes, n, lines, n))


def main(which, *names):
    sys.modules["plant"] = sys.modules["__main__"]
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    importlib.import_module(which)
    if names[:1] == ("--judge",):
        judge(names[1], sys.stdin)
    else:
        run(names)


if __name__ == "__main__":
    main(*sys.argv[1:])
