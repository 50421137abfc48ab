"""jit.py NANASSERT FOLDER [NAME...] : the programs of jit_programs.py under the tools, TAP lines (jit.t).

Each program is run alone (its outputs, and a cold cache), under aoti-nanassert with the cache that this left (warm), and the first run
is made again under the tool with an empty cache. What is held: the kernel that is named, the outputs bit by bit, no new library in
the warm cache (its graphs are generated once more, to have their nodes: their texts differ in the number of the graph), the same files
from cold."""
import fnmatch
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "jit_programs.py")
sys.path.insert(0, HERE)
import jit_programs  # noqa: E402

NAMED = {"produced": "made", "input": "input", "constant": "weight"}


def files(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs
                  if f.endswith((".py", ".so", ".cpp")) and "__pycache__" not in d)


def run(names, cache, *tool):
    env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache)
    r = subprocess.run([*tool, sys.executable, PROGRAMS, *names], env=env, capture_output=True, text=True, errors="replace")
    return r.returncode, dict(line.split(" ") for line in r.stdout.splitlines() if line.count(" ") == 1), r.stderr


def said(path):
    """(kind, who, times) of the first finding."""
    with open(path, encoding="utf-8") as f:
        d = json.load(f)
    for x in d["findings"][:1]:
        kind = NAMED.get(x["kind"], x["kind"])
        who = x["kernel"]
        if kind != "made" and x["cause"] is not None:
            who = x["values"][x["cause"]]["path"]
        return kind, who, d
    return "none", "", d


def main(nanassert, folder, *names):
    names = names or list(jit_programs.PROGRAMS)
    ok = bad = 0

    def tell(good, what, *more):
        nonlocal ok, bad
        ok, bad = ok + good, bad + (not good)
        print("ok" if good else "not ok", "-", what, flush=True)
        for line in more if not good else ():
            print("#", line)

    warm, cold, document = os.path.join(folder, "warm"), os.path.join(folder, "cold"), os.path.join(folder, "json")
    status, plain, err = run(names, warm)
    tell(not status and len(plain) == len(names), "all programs run by themselves", *err.splitlines()[-5:])
    named = right = 0
    for name in names:
        _, kind, who = jit_programs.PROGRAMS[name]
        before = files(warm)
        status, out, err = run([name], warm, nanassert, "--json", "--log", document, "--")
        if not os.path.exists(document):
            tell(False, name, *err.splitlines()[-5:])
            continue
        got, by, d = said(document)
        os.unlink(document)
        new = sorted(f for f in set(files(warm)) - set(before) if not f.endswith(".py"))
        if new:  # what torch does not cache (while_loop) is compiled in each process, and called by its number there
            for f in new:
                os.unlink(os.path.join(warm, f))
            run([name], warm)
            new = sorted(f for f in set(new) ^ (set(files(warm)) - set(before)) if not f.endswith(".py"))
        good = got == kind and (not who or fnmatch.fnmatch(by, who))
        named += kind == "made"
        right += kind == "made" and good
        tell(good and status == (kind != "none") and out.get(name) == plain.get(name) and not new and not d["asides"],
             "%s: %s%s%s" % (name, got, " " if by else "", by), "expected %s %s" % (kind, who), "status %d" % status,
             "outputs %s" % ("equal" if out.get(name) == plain.get(name) else "differ"), *new[:4], *d["asides"][:4],
             *([] if got == kind else err.splitlines()[-5:]))
    status, out, err = run(names, cold, nanassert, "--all", "--log", os.path.join(folder, "log"), "--")
    differ = [n for n in names if out.get(n) != plain.get(n)]
    tell(status == 1 and not differ, "from a cold cache under the tool: the same outputs", *differ, *err.splitlines()[-5:])
    tell(files(cold) == files(warm) or len(names) > 1, "and the same files are compiled", *sorted(set(files(cold)) ^ set(files(warm)))[:6])
    print("# %d of %d kernels named rightly" % (right, named))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
