"""Functions with known numbers of graph breaks, recompiles and limits, and what torch itself counts: `fxexplain_cases.py OUT.json` runs
them all and writes one object a case; `fxexplain_cases.py --explain OUT.json` asks torch._dynamo.explain instead.

A case is a function that runs compiled functions of its own; all of them lie between its first and its last line, which is how
tests/live/fxexplain.t finds what the log says of it. `want`: by hand. Nothing is reset in between, so that compile ids stay apart."""
import contextlib, inspect, json, os, sys

import torch
import torch._dynamo
from torch._dynamo.utils import clear_compilation_metrics, counters, get_compilation_metrics

CASES = []


def case(explain=False, **want):
    def add(f):
        CASES.append((f, want, explain))
        return f
    return add


compiled = torch.compile(backend="eager")
static = torch.compile(backend="eager", dynamic=False)
X = torch.ones(4)


# ---- graph breaks: breaks, graphs ----

@case(breaks=1, graphs=2, explain=True)
def asked():
    @compiled
    def f(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2
    return f


@case(breaks=2, graphs=3, explain=True)
def asked_twice():
    @compiled
    def f(x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        torch._dynamo.graph_break()
        return x - 3
    return f


@case(breaks=1, graphs=2, explain=True)
def item():
    @compiled
    def f(x):
        v = x.sum().item()
        return x * v
    return f


@case(breaks=1, graphs=2, explain=True)
def jump():
    @compiled
    def f(x):
        y = x + 1
        if y.sum() > 0:
            return y * 2
        return y * 3
    return f


@case(breaks=2, graphs=3, explain=True)
def jump_twice():
    @compiled
    def f(x):
        if x.sum() > 0:
            x = x + 1
        if x.max() < 0:
            x = x - 1
        return x * 2
    return f


@torch.compiler.disable
def eagerly(x):
    return x + 1


@case(breaks=1, graphs=2, explain=True)
def disabled():
    @compiled
    def f(x):
        y = x * 2
        y = eagerly(y)
        return y * 3
    return f


@case(breaks=1, graphs=2, explain=True)
def builtin():
    @compiled
    def f(x):
        y = x * 2
        os.getpid()
        return y + 1
    return f


# Nothing is computed before the break: one graph.
@case(breaks=1, graphs=1, explain=True)
def dynamic_shape_op():
    @compiled
    def f(x):
        y = torch.nonzero(x)
        return y + 1
    return f


@case(breaks=0, graphs=1, explain=True)
def whole():
    @compiled
    def f(x):
        return (x + 1).relu() * 2
    return f


# The break is in a function that is inlined: f breaks at its call, and g, now a frame of its own, breaks again at its own line.
@case(breaks=2, graphs=4, explain=True)
def inlined():
    def g(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    @compiled
    def f(x):
        x = x - 1
        x = g(x)
        return x / 2
    return f


# ---- recompiles: recompiles, limits ----

def calls(f, *many):
    for args in many:
        f(*args)


@case(recompiles=2)
def size_static():
    @static
    def f(x):
        return x + 1
    calls(f, (torch.ones(3),), (torch.ones(4),), (torch.ones(5),))


@case(recompiles=1)
def size_automatic():
    @compiled
    def f(x):
        return x + 1
    calls(f, (torch.ones(3),), (torch.ones(4),), (torch.ones(5),), (torch.ones(6),))


@case(recompiles=2)
def dtype():
    @compiled
    def f(x):
        return x + 1
    calls(f, (X,), (X.double(),), (X.int(),), (X,))


@case(recompiles=1)
def rank():
    @compiled
    def f(x):
        return x + 1
    calls(f, (torch.ones(4),), (torch.ones(4, 4),))


@case(recompiles=2)
def value_string():
    @compiled
    def f(x, how):
        return x + len(how)
    calls(f, (X, "a"), (X, "bb"), (X, "ccc"), (X, "a"))


@case(recompiles=2)
def value_int_static():
    @static
    def f(x, n):
        return x + n
    calls(f, (X, 5), (X, 6), (X, 7))


@case(recompiles=1)
def kind():
    @compiled
    def f(x, n):
        return x + n[0]
    calls(f, (X, [3]), (X, (3,)))


@case(recompiles=1)
def length():
    @compiled
    def f(xs):
        return sum(xs)
    calls(f, ([X, X],), ([X, X, X],), ([X, X],))


@case(recompiles=1)
def grad_mode():
    @compiled
    def f(x):
        return x + 1
    f(X)
    with torch.no_grad():
        f(X)


@case(recompiles=1)
def requires_grad():
    @compiled
    def f(x):
        return x + 1
    calls(f, (X,), (torch.ones(4, requires_grad=True),))


SCALE = 2


@case(recompiles=2)
def global_value():
    global SCALE

    @static
    def f(x):
        return x * SCALE
    for SCALE in (2, 3, 4):
        f(X)


@case(recompiles=2)
def closure_float():
    lr = 0.5

    @static
    def f(x):
        return x * lr
    for lr in (0.5, 0.25, 0.125):
        f(X)


@case(recompiles=1)
def dict_key():
    @compiled
    def f(x, d):
        return x + d.get("a", 0)
    calls(f, (X, {"a": 1}), (X, {"b": 1}))


class Scaled(torch.nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how

    def forward(self, x):
        return x + len(self.how)


@case(recompiles=1)
def module_attribute():
    @compiled
    def f(m, x):
        return m(x)
    m = Scaled("a")
    f(m, X)
    m.how = "bb"
    f(m, X)


# The limit is torch's own, 8: the ninth value finds 8 entries, and from then on the function is left to Python. torch records that
# attempt as a recompile, and as a compilation that failed.
@case(recompiles=8, limits=1, failures=1)
def limit():
    @compiled
    def f(x, how):
        return x + len(how)
    for i in range(12):
        f(X, "a" * i)


# ---- dynamic shapes: symbols ----

@case(symbols=1)
def marked():
    @compiled
    def f(x):
        return x + x.shape[0]
    x = torch.ones(7)
    torch._dynamo.mark_dynamic(x, 0)
    f(x)


@case(symbols=2)
def two_marked():
    @compiled
    def f(x, y):
        return x.sum() + y.sum() if x.shape[0] > y.shape[0] else x.sum()
    x, y = torch.ones(9), torch.ones(8)
    torch._dynamo.mark_dynamic(x, 0)
    torch._dynamo.mark_dynamic(y, 0)
    f(x, y)


# ---- failures: failures ----

@case(failures=1, breaks=0)
def fullgraph():
    @torch.compile(backend="eager", fullgraph=True)
    def f(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2
    with contextlib.suppress(torch._dynamo.exc.Unsupported):
        f(X)


@case(failures=1)
def its_own_shape():
    @compiled
    def f(x):
        return x @ torch.ones(7, 7)
    with contextlib.suppress(Exception):
        f(X)


def bad_backend(gm, inputs):
    raise ZeroDivisionError("a backend that divides")


@case(failures=1)
def backend():
    @torch.compile(backend=bad_backend)
    def f(x):
        return x + 1
    with contextlib.suppress(Exception):
        f(X)


def numbers():
    """What torch counts: counters, and its own metrics of each compilation (the last 64 of them, more than a case makes)."""
    metrics = get_compilation_metrics()
    return {
        "breaks": sum(counters["graph_break"].values()),
        "graphs": counters["stats"]["unique_graphs"],
        "frames": counters["frames"]["total"],
        "ok": counters["frames"]["ok"],
        "recompiles": sum(m.recompile_reason is not None for m in metrics),
        "compiles": len(metrics),
        "failures": sum(m.fail_type is not None for m in metrics),
        "resumes": sum(counters["resumes"].values()),
    }


def explained(f):
    e = torch._dynamo.explain(f)(X)
    return {"graphs": e.graph_count, "breaks": e.graph_break_count, "listed": len(e.break_reasons), "ops": e.op_count}


def main(out, explain):
    result = {}
    for f, want, may in CASES:
        if explain and not may:
            continue
        lines, first = inspect.getsourcelines(f)
        counters.clear()
        clear_compilation_metrics()
        g = f()
        if explain:
            result[f.__name__] = explained(g)
            continue
        if g:
            g(X)
        result[f.__name__] = {"first": first, "last": first + len(lines) - 1, "want": want, "torch": numbers()}
    json.dump(result, open(out, "w"), indent=1)


if __name__ == "__main__":
    main(sys.argv[-1], sys.argv[1] == "--explain")
