"""Scores `fxexplain mend` on composed programs: mend.py FXEXPLAIN PYTHON [--jobs=N] [--budget=SECONDS] [--today] [--packages=DIR] [--out=DIR] [--table=FILE] PROGRAM... ; TAP,
and a table at the end. --out keeps the documents; mend.py --from=DIR [--table=FILE] scores those of an earlier run. --table writes share/breaks/tried.txt: in how
many programs each fix was advised and tried, and in how many it worked.

A program is a file, or a folder with main.py, train.py, app.py or run.py. For each: breaks left, is the worst finding gone, values equal, runs, seconds;
with --today also what `fxexplain fix` makes of it, with the backend eager. --packages: the programs use packages of PyPI, named in their second line
("# pip: the package; what it needs"), which are installed in DIR: the package beside its program, as in an editable install. The aims: no breaks in 75 %, the worst finding gone in 90 %, values equal in all.
"""
import concurrent.futures, contextlib, json, os, resource, shutil, statistics, subprocess, sys, tempfile

MAINS = ("main.py", "train.py", "app.py", "run.py")
EAGER = """
import os, runpy, sys, torch
real = torch.compile
def compile(model=None, **k):
    if model is None:
        return lambda m: compile(m, **k)
    k.pop("mode", None), k.pop("options", None)
    return real(model, **{**k, "backend": "eager"})
torch.compile = compile
torch.manual_seed(0)
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def main_of(path):
    if os.path.isdir(path):
        return next(os.path.join(path, m) for m in MAINS if os.path.exists(os.path.join(path, m)))
    return path


def with_packages(python, folder, program):
    """The folder of a program that has a line "# pip: x==1.0; y z", with x in it, as PyPI has it; y and z are where PYTHONPATH leads to. None: they cannot be had."""
    with open(program) as f:
        _, _, line = f.read().split("\n")[1].partition("# pip: ")
    package, _, others = line.partition(";")
    home = os.path.join(folder, os.path.basename(program).removesuffix(".py"))
    for target, names in ((home, [package]), (os.path.join(folder, "others"), others.split())):
        done = os.path.join(target, ".installed")
        with open(done) if os.path.exists(done) else contextlib.nullcontext([]) as f:
            names = [n for n in names if n + "\n" not in f]
        if names:  # without torch, which python has
            p = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-compile", "--upgrade", "--target", target, *names], capture_output=True, text=True)
            if p.returncode:
                return None
            with open(done, "a") as f:
                f.writelines(n + "\n" for n in names)
    shutil.copy(program, os.path.join(home, "main.py"))
    return home


def figures(fx, python, path):
    """(breaks, recompiles, has the worst finding's line) of a run with the backend eager, and its log."""
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([python, "-c", EAGER, path], env={**os.environ, "TORCH_TRACE": d, "OMP_NUM_THREADS": "1"}, capture_output=True, cwd=os.path.dirname(path), timeout=900)
        out = subprocess.run([fx, "--json", "-q", d], capture_output=True, text=True).stdout
        fix = subprocess.run([fx, "fix", "-q", d], capture_output=True, text=True, cwd=os.path.dirname(path)).stdout
    x = json.loads(out) if out else {"summary": {"graph_breaks": 0, "recompiles": 0}, "findings": []}
    worst = next((f for f in x["findings"] if f["level"] in ("warning", "error")), None)
    return x["summary"]["graph_breaks"], x["summary"]["recompiles"], worst, fix, x


def today(fx, python, path):
    """Breaks and recompiles with today's fixes applied whole; None: no fix."""
    with tempfile.TemporaryDirectory() as d:
        folder = os.path.join(d, "p")
        shutil.copytree(os.path.dirname(path), folder, ignore=shutil.ignore_patterns("*.json", "__pycache__")) if os.path.basename(path) in MAINS else \
            (os.mkdir(folder), shutil.copy(path, folder))
        copy = os.path.join(folder, os.path.basename(path))
        breaks, recompiles, worst, fix, _ = figures(fx, python, copy)
        if not fix:
            return None
        subprocess.run(["patch", "-s", "-p1"], input=fix, text=True, cwd=folder, capture_output=True)
        b, r, w, _, x = figures(fx, python, copy)
        same = worst and any(f["level"] in ("warning", "error") and f["cause"] == worst["cause"] for f in x["findings"])
        return {"breaks": b, "recompiles": r, "worst_gone": not same}


def one(fx, python, path, with_today, out, budget):
    path = os.path.abspath(main_of(path))
    name = os.path.basename(path) if os.path.basename(path) not in MAINS else os.path.basename(os.path.dirname(path))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([fx, "mend", "-q", "--json", "--no-as-is", "--budget=" + budget, "--", python, path], capture_output=True, text=True, cwd=os.path.dirname(path))
    d = json.loads(p.stdout) if p.stdout else {"failed": p.stderr.strip()[-300:]}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    d["cpu"] = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime  # with --jobs=1
    if with_today:
        d["today"] = today(fx, python, path)
    if out:
        with open(os.path.join(out, name + ".json"), "w") as f:
            json.dump(d, f)
    return name, d


# What a line of fxexplain's has that is a fix, and the kind and title of the candidate that it is.
FIXES = (("@torch.library.custom_op(\"ns::", "operator", ""), ("y = torch.where(cond", "where", "torch.where"), ("y = torch.cond(cond", "where", "torch.cond"),
         ("torch._assert_async(", "assert", ""), ("torch._dynamo.mark_dynamic(", "dynamic", "mark_dynamic"),
         ("torch.compile(f, dynamic=True)", "dynamic", "dynamic=True"), ("counts or changes in the module: keep it in a tensor", "buffer", ""),
         ("torch._dynamo.config.capture_scalar_outputs =", "setting", "capture_scalar_outputs"),
         ("torch._dynamo.config.capture_dynamic_output_shape_ops =", "setting", "capture_dynamic_output_shape_ops"),
         ("torch._dynamo.config.allow_unspec_int_on_nn_module =", "setting", "allow_unspec_int_on_nn_module"))


def write_table(path, documents):
    """{name: document} as the table of libcommon/cli/run/diagnose/tried.c."""
    with open(path, "w") as f:
        f.write("# Programs in which a fix was advised and tried, in which it worked, and what its line has: by tests/live/mend.py --table in %d programs.\n" % len(documents))
        for part, kind, title in FIXES:
            tries = [[t for t in d["tries"] if t["kind"] == kind and t["title"].startswith(title) and part in t["advice"]] for d in documents.values()]
            tried = sum(bool(t) for t in tries)
            if tried:
                f.write("%d %d %s\n" % (tried, sum(any(t["accepted"] for t in row) for row in tries), part))


def main():
    options = dict(a[2:].partition("=")[::2] for a in sys.argv[1:] if a.startswith("--"))
    rows, documents = [], {}
    with concurrent.futures.ThreadPoolExecutor(int(options.get("jobs", 1))) as pool:
        if "from" in options:
            done = [(f.removesuffix(".json"), json.load(open(os.path.join(options["from"], f)))) for f in sorted(os.listdir(options["from"])) if f.endswith(".json")]
        else:
            fx, python, *programs = [a for a in sys.argv[1:] if not a.startswith("--")]
            if "packages" in options:
                folder = os.path.abspath(options["packages"])
                os.makedirs(folder, exist_ok=True)
                os.environ["PYTHONPATH"] = os.path.join(folder, "others")
                homes = [(p, with_packages(python, folder, p)) for p in programs]
                for p, home in homes:
                    if home is None:
                        print("# %s: its packages cannot be installed" % os.path.basename(p), flush=True)
                programs = [home for _, home in homes if home is not None]
            done = pool.map(lambda p: one(fx, python, p, "today" in options, options.get("out"), options.get("budget", "600")), programs)
        for name, d in done:
            if "failed" in d:
                rows.append((name, None))
                print("not ok %d - %s: %s" % (len(rows), name, d["failed"].replace("\n", " ")), flush=True)
                continue
            documents[name] = d
            a, z = d["before"], d["after"]
            row = {"breaks": (a["graph_breaks"], z["graph_breaks"]), "recompiles": (a["recompiles"], z["recompiles"]), "calls": (a["graph_calls"], z["graph_calls"]),
                   "zero": z["graph_breaks"] == 0, "worst": d["worst_gone"], "equal": z["equal"] or not d["edits"], "runs": d["runs"], "seconds": d["seconds"], "cpu": d["cpu"], "today": d.get("today")}
            rows.append((name, row))
            print("%s %d - %s: breaks %d -> %d, recompiles %d -> %d, graph calls %d -> %d%s%s; %d runs, %.0f s, %.0f s of processor time%s" % (
                "ok" if row["equal"] else "not ok", len(rows), name, *row["breaks"], *row["recompiles"], *row["calls"], "" if row["worst"] else "; the worst finding stays",
                "" if row["equal"] else "; NOT equal", row["runs"], row["seconds"], row["cpu"],
                "; today's fix: " + ("none" if row["today"] is None else "%(breaks)d breaks, %(recompiles)d recompiles" % row["today"]) if "today" in d else ""), flush=True)
    done = [r for _, r in rows if r]
    n = max(1, len(rows))
    print("# %d programs: no breaks in %d (%d %%), worst finding gone in %d (%d %%), values equal in %d; median %.0f s, %.0f s of processor time" % (
        len(rows), sum(r["zero"] for r in done), 100 * sum(r["zero"] for r in done) / n, sum(r["worst"] for r in done), 100 * sum(r["worst"] for r in done) / n,
        sum(r["equal"] for r in done), *[statistics.median(r[k] for r in done) if done else 0 for k in ("seconds", "cpu")]))
    if any("today" in d for d in documents.values()):
        print("# today's fix: no breaks in %d, worst finding gone in %d" % (sum(bool(r["today"]) and r["today"]["breaks"] == 0 for r in done),
                                                                            sum(bool(r["today"]) and r["today"]["worst_gone"] for r in done)))
    if options.get("table"):
        write_table(options["table"], documents)
    print("1..%d" % len(rows))


main()
