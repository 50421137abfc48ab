"""Fixes that fxexplain prints, tried: `fixes.py OUT PROGRAM.py...`, with the Python whose torch is asked; the result as TAP. A program has
FIX (a regular expression: the line that is printed for it), before and after (or make(), a callable anew), calls() (its arguments, anew; it may
ask whether AFTER), and, where needed, setup() for what comes after, COMPILE and AFTER_COMPILE (arguments of torch.compile), EAGER.

Each runs in a child, first as it was: there must be a graph break, a second graph or an exception; then as mended: one graph, no break, and the
values are those of eager. OUT/NAME/ keeps the trace and stderr of the first run, for which fxexplain must print the fix."""
import json, os, re, subprocess, sys, traceback

import torch
import torch._dynamo
import torch._logging._internal as torch_logging
from torch._dynamo.testing import CompileCounterWithBackend
from torch._dynamo.utils import counters


def load(path, after):
    m = {"__name__": "program", "AFTER": after}
    with open(path) as f:
        exec(compile(f.read(), path, "exec"), m)
    return m


def callee(m, after):
    return m["make"]() if "make" in m else m["after" if after else "before"]


def values(f, calls):
    out = []
    for args in calls:
        r = f(*args)
        out.append(r.detach().clone() if isinstance(r, torch.Tensor) else r)
    return out


def compiled(m, after):
    """Graphs, breaks, values."""
    torch._dynamo.reset()
    counters.clear()
    backend = CompileCounterWithBackend("aot_eager")
    how = {**m.get("COMPILE", {}), **(m.get("AFTER_COMPILE", {}) if after else {})}
    f = callee(m, after)
    one = lambda g: torch.compile(g, backend=backend, **how)
    f = m["wrap"](f, one) if "wrap" in m else one(f)
    result = values(f, m["calls"]())
    return backend.frame_count, sum(counters["graph_break"].values()), result


def eager(m):
    f = m.get("EAGER") or callee(m, m["AFTER"])
    f = m["wrap"](f, lambda g: g) if "wrap" in m else f
    return values(f, m["calls"]())


def first_run(path):
    m = load(path, False)
    m.get("setup_both", lambda: None)()
    try:
        graphs, breaks, result = compiled(m, False)
        return f"{graphs} graphs, {breaks} breaks" if breaks or graphs != 1 else None, m
    except Exception as e:
        traceback.print_exception(type(e), e, e.__traceback__.tb_next.tb_next)
        return type(e).__name__, m


def tried(path):
    """None: the fix holds; else why not."""
    problem, old = first_run(path)
    if not problem:
        return "there is no problem before"
    torch_logging.trace_log.handlers.clear()
    m = load(path, True)
    m.get("setup_both", lambda: None)()
    m.get("setup", lambda: None)()
    try:
        graphs, breaks, got = compiled(m, True)
        want = eager(old if not {"EAGER", "wrap", "make"} & set(m) and m.get("SAME_VALUES", True) else m)
    except Exception as e:
        return f"after it: {type(e).__name__}: {str(e).splitlines()[0]}"
    if "wrap" not in m and (breaks or graphs != m.get("GRAPHS_AFTER", 1)):
        return f"after it: {graphs} graphs, {breaks} breaks ({problem} before)"
    if "wrap" in m and problem[0].isdigit() and int(problem.split()[0]) <= graphs:
        return f"after it: {graphs} graphs, {problem} before"
    if len(want) != len(got) or not all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in zip(want, got)):
        return f"the values are not eager's: {got} for {want}"
    return None


def child(path, out, write):
    os.makedirs(out + "/trace", exist_ok=True)
    torch_logging.LOG_TRACE_HANDLER.root_dir = out + "/trace"
    err = os.open(out + "/stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(err, 2)
    os.dup2(err, 1)
    try:
        why = tried(path)
    except BaseException as e:
        why = f"{type(e).__name__}: {e}"
        traceback.print_exc()
    os.write(write, (why or "").encode())
    os._exit(0)


def run(path, out):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        child(os.path.abspath(path), os.path.abspath(out), write)
    os.close(write)
    with open(read) as f:
        why = f.read()
    return why if not os.waitpid(pid, 0)[1] else "it died"


def printed(path, out):
    """Does fxexplain print the fix for the first run?"""
    with open(path) as f:
        fix = re.search(r'^FIX = r"(.*)"$', f.read(), re.M)[1].replace('\\"', '"')
    inputs = [d for d in (out + "/trace", out + "/stderr") if (os.listdir(d) if os.path.isdir(d) else os.path.getsize(d))]
    doc = json.loads(subprocess.run(["fxexplain", "-q", "--json", *inputs], capture_output=True, text=True).stdout or '{"findings": []}')
    lines = [line for f in doc["findings"] for line in f["fix"]]
    return None if any(re.search(fix, line) for line in lines) else f"not printed: {lines}"


def main():
    folder, programs, good = sys.argv[1], sys.argv[2:], 0
    for i, p in enumerate(programs):
        name = os.path.splitext(os.path.basename(p))[0]
        why = run(p, f"{folder}/{name}") or printed(p, f"{folder}/{name}")
        good += not why
        print(f"{'not ok' if why else 'ok'} {i + 1} - {name}", flush=True)
        if why:
            print(f"#   {why[:400]}")
    print(f"# {good} of {len(programs)} fixes hold and are printed with torch {torch.__version__}")


if __name__ == "__main__":
    main()
