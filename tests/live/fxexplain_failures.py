"""Programs that fail in one part of the compiler each: `fxexplain_failures.py NAME` lets the failure end the program,
`fxexplain_failures.py --caught OUT.json NAME...` catches each and writes which lines are whose."""
import inspect, json, os, signal, sys

import torch

X = torch.ones(8, 8)


@torch.library.custom_op("fxexplain::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("fxexplain::picky", mutates_args=())
def picky(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@picky.register_fake
def _(x):
    return torch.empty_like(x)


# Fine with values, nothing that can be traced.
picky.register_autograd(lambda ctx, grad: torch.from_numpy(grad.numpy() * 2))


def eager():
    """The program's own mistake."""
    @torch.compile
    def f(x):
        return x @ torch.ones(3, 3)
    f(X)


def dynamo():
    """A graph break where none is allowed."""
    @torch.compile(fullgraph=True)
    def f(x):
        torch._dynamo.graph_break()
        return x + 1
    f(X)


def aotautograd():
    """A backward function that cannot be traced."""
    @torch.compile
    def f(x):
        return picky(x).sum()
    f(X.clone().requires_grad_()).backward()


def inductor():
    """A lowering that raises."""
    import torch._inductor.lowering as lowering

    def refuse(x):
        raise NotImplementedError("no lowering of this")
    lowering.lowerings[torch.ops.fxexplain.twice.default] = refuse

    @torch.compile
    def f(x):
        return twice(x) + 1
    f(X)


def compiler():
    """Generated C++ that does not compile (torch's own switch for tests of its minifier)."""
    from torch._inductor import config
    with config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "compile_error"}):
        @torch.compile
        def f(x):
            return torch.relu(x) + 1
        f(X)


def wrong():
    """Generated C++ that computes something else (likewise)."""
    from torch._inductor import config
    with config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}):
        @torch.compile
        def f(x):
            return torch.relu(x) + 1
        torch.testing.assert_close(f(X), torch.relu(X) + 1)


def fine():
    @torch.compile
    def f(x):
        return torch.relu(x) * 3
    f(X)


def again():
    """Another function with the same graph."""
    @torch.compile
    def g(x):
        return torch.relu(x) * 3
    g(X)


def crash():
    """What was compiled is in the log also when the process dies of something else."""
    @torch.compile(backend="eager")
    def f(x):
        torch._dynamo.graph_break()
        return x + 1
    f(X)
    os.kill(os.getpid(), signal.SIGSEGV)


def main(names, out):
    lines = {}
    for name in names:
        f = globals()[name]
        source, first = inspect.getsourcelines(f)
        lines[name] = {"first": first, "last": first + len(source) - 1}
        try:
            f()
        except Exception as e:
            if not out:
                raise
            lines[name]["type"] = type(e).__name__
    if out:
        json.dump(lines, open(out, "w"))


if __name__ == "__main__":
    if sys.argv[1] == "--caught":
        main(sys.argv[3:], sys.argv[2])
    else:
        main(sys.argv[1:], None)
