"""An operator that reads address 8 if its second input is 1, in compiled code only; passes of the user's that go wrong."""
import ctypes

import torch

IN_COMPILED = False


@torch.library.custom_op("planted::boom", mutates_args=())
def boom(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    if int(i) == 1 and IN_COMPILED:
        ctypes.string_at(8)
    return x.clone()


@boom.register_fake
def _(x, i):
    return torch.empty_like(x)


def compiled(graph):
    global IN_COMPILED
    IN_COMPILED = True


def silu(graph):
    """AOTAutograd decomposes it: only Inductor alone sees one."""
    if any("aten.silu" in str(n.target) for n in graph.nodes):
        raise RuntimeError("cannot silu")


def exp(graph):
    """What AOTAutograd makes of silu; the graph alone fails in another way."""
    if any("aten.exp" in str(n.target) for n in graph.nodes):
        raise RuntimeError("cannot exp")
    silu(graph)


def writes(graph):
    """Other numbers where an input is written."""
    for n in list(graph.nodes):
        if "aten.copy_" in str(n.target):
            with graph.inserting_before(n):
                new = graph.call_function(torch.ops.aten.add.Tensor, (n.args[1], 1))
                new.meta = dict(n.args[1].meta)
            n.args = (n.args[0], new)
