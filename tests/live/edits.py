"""The fixes that are changes of a line, made: `edits.py OUT PROGRAM.py...`, with the Python whose torch is asked; the result as TAP. Of a program of
tests/live/fixes that has EDIT a script is made as a user would have it, which has the problem: before, as it is without AFTER; `compiled` is what torch.compile
makes of it, main() calls it. It runs under a trace; `fxexplain fix --apply --only EDIT` changes a copy; that must have one graph, no break, and the values
of eager. A program without EDIT must give no edit for its FIX: its fix is no change of a line. One with an operator of its own as FIX (OF_MEND) is not counted:
`fxexplain mend` makes that, of several lines."""
import ast, os, pickle, re, shutil, subprocess, sys, traceback

import torch
import torch._dynamo
import torch._logging._internal as torch_logging
from torch._dynamo.testing import CompileCounterWithBackend
from torch._dynamo.utils import counters

OURS = {"FIX", "EDIT", "OF_MEND", "COMPILE", "AFTER_COMPILE", "GRAPHS_AFTER", "SAME_VALUES", "WRAPPER", "EAGER", "after", "setup", "calls", "setup_both"}


class Broken(ast.NodeTransformer):
    """The program without AFTER, and with calls of compiled where it yields arguments."""

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return node.orelse if isinstance(node.test, ast.Constant) else node

    def visit_If(self, node):
        self.generic_visit(node)
        return node.orelse if isinstance(node.test, ast.Constant) else node

    def visit_Name(self, node):
        return ast.copy_location(ast.Constant(False), node) if node.id == "AFTER" else node

    def visit_Yield(self, node):
        self.generic_visit(node)
        return ast.parse(f"record(compiled({', '.join(map(ast.unparse, node.value.elts))}))", mode="eval").body


def names(node):
    targets = getattr(node, "targets", [node])
    return {getattr(t, "name", getattr(t, "id", None)) for t in targets}


def script(path):
    with open(path) as f:
        text = f.read()
    tree = Broken().visit(ast.parse(text))
    named = {n: node for node in tree.body for n in names(node)}
    kept = [ast.unparse(node) for node in tree.body if not names(node) & OURS]
    setup = [ast.unparse(s) for s in named["setup_both"].body] if "setup_both" in named else []
    how = "".join(", " + ast.unparse(k) for k in named["COMPILE"].value.keywords) if "COMPILE" in named else ""
    made = "make()" if "make" in named else "before"
    made = f"wrap({made}, torch.compile)" if "wrap" in named else f"torch.compile({made}{how})"
    main = ast.unparse(named["calls"]).replace("def calls(", "def main(", 1)
    return "\n\n".join([*kept, *setup, "compiled = " + made, main, "main()"]) + "\n"


def counted(backend, real):
    def compile(model=None, **how):
        how["backend"] = backend
        return real(model, **how) if model is not None else lambda g: real(g, **how)
    return compile


def run(path, eager, out):
    """Of the script: graphs, breaks, values, what it raised. Its trace and stderr go to out."""
    torch_logging.LOG_TRACE_HANDLER.root_dir = out + "/trace"
    torch_logging.LOG_TRACE_HANDLER.stream = None
    err = os.open(out + "/stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(err, 1)
    os.dup2(err, 2)
    got, backend, raised = [], CompileCounterWithBackend("aot_eager"), None
    torch.compile = (lambda model=None, **how: model if model is not None else lambda g: g) if eager else counted(backend, torch.compile)
    keep = lambda r: got.append(r.detach().clone() if isinstance(r, torch.Tensor) else r)
    try:
        with open(path) as f:
            exec(compile(f.read(), path, "exec"), {"__name__": "program", "record": keep})
    except Exception as e:
        traceback.print_exception(type(e), e, e.__traceback__.tb_next)
        raised = f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
    return backend.frame_count, sum(counters["graph_break"].values()), got, raised


def forked(path, eager, out):
    os.makedirs(out + "/trace", exist_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            result = run(path, eager, out)
            with open(out + "/result", "wb") as f:
                pickle.dump(result, f)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    with open(out + "/result", "rb") as f:
        return pickle.load(f)


def fxexplain_fix(folder, more):
    inputs = [p for p in (folder + "/old/trace", folder + "/old/stderr") if (os.listdir(p) if os.path.isdir(p) else os.path.getsize(p))]
    return subprocess.run(["fxexplain", "fix", "--root", folder + "/app", *more, *inputs], capture_output=True, text=True)


def same(a, b):
    return len(a) == len(b) and all(torch.equal(p, q) if isinstance(p, torch.Tensor) else p == q for p, q in zip(a, b))


def wrong(m, path, folder):
    """None: the edit was made and holds; else why not."""
    only = m["EDIT"]
    old = forked(path, False, folder + "/old")
    graphs, breaks, _, raised = old
    if not raised and not breaks and graphs == 1:
        return "there is no problem before"
    made = fxexplain_fix(folder, ["--apply", "--only", only])
    if made.returncode or not os.path.exists(path + ".orig"):
        return f"exit {made.returncode}: {made.stdout}{made.stderr}".strip().replace("\n", "; ")
    new = forked(path, False, folder + "/new")
    want = forked(path + ".orig", True, folder + "/eager")
    if want[3] or not m["SAME_VALUES"]:  # eager itself refuses
        want = forked(path, True, folder + "/eager")
    if new[3] or want[3]:
        return f"after it: {new[3] or 'eager: ' + want[3]}"
    few = new[0] < graphs or new[1] < breaks or raised if m["WRAP"] else new[1] == 0 and new[0] == m["GRAPHS_AFTER"]
    if not few:
        return f"after it: {new[0]} graphs, {new[1]} breaks ({graphs}, {breaks} before)"
    return None if same(new[2], want[2]) else f"the values are not eager's: {new[2]} for {want[2]}"


def marks(path):
    """What the program says of itself, without running it."""
    with open(path) as f:
        text = f.read()
    m = {"EDIT": None, "GRAPHS_AFTER": 1, "SAME_VALUES": True, "OF_MEND": False}
    for name in m:
        if found := re.search(rf"^{name} = (.*)$", text, re.M):
            m[name] = ast.literal_eval(found[1])
    m["WRAP"] = "def wrap(" in text
    return m


def main():
    folder, programs = os.path.abspath(sys.argv[1]), sys.argv[2:]
    edits = good = of_mend = 0
    for i, p in enumerate(programs):
        name = os.path.splitext(os.path.basename(p))[0]
        m, here = marks(p), f"{folder}/{name}"
        if m["EDIT"] is None:
            of_mend += m["OF_MEND"]
            continue
        shutil.rmtree(here, ignore_errors=True)
        os.makedirs(here + "/app")
        path = f"{here}/app/{name}.py"
        with open(path, "w") as f:
            f.write(script(p))
        why = wrong(m, path, here)
        edits += 1
        good += not why
        print(f"{'not ok' if why else 'ok'} {edits} - {name}", flush=True)
        if why:
            print(f"#   {why[:600]}")
    tried = len(programs) - of_mend
    print(f"{'ok' if edits * 10 >= tried * 6 else 'not ok'} {edits + 1} - 60 of 100 fixes are edits")
    print(f"# {edits} of {tried} tried fixes are edits ({100 * edits // max(tried, 1)} %), {good} of {edits} work by --apply with torch {torch.__version__}")


if __name__ == "__main__":
    main()
