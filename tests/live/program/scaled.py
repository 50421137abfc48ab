"""Custom operators, and what does not concern them."""
import torch

lib = torch.library.Library("scaled", "DEF")
lib.define("gate(Tensor x, float s) -> Tensor")
lib.define("gate_backward(Tensor g, float s) -> Tensor")


def norm_of(x):
    return float((x * x).sum()) ** 0.5


@torch.library.impl(lib, "gate", "CPU")
def gate(x, s):
    return x * s


@torch.library.impl(lib, "gate_backward", "CPU")
def gate_backward(g, s):
    return g * s


@torch.library.register_fake("scaled::gate")
def gate_shape(x, s):
    return torch.empty_like(x)


@torch.library.register_fake("scaled::gate_backward")
def gate_backward_shape(g, s):
    return g.new_empty(g.shape[:-1] + (g.shape[-1] + 1,))  # one too many


def keep(ctx, inputs, output):
    ctx.s = inputs[1]


torch.library.register_autograd("scaled::gate", lambda ctx, g: (torch.ops.scaled.gate_backward(g, ctx.s), None), setup_context=keep)


def gated(x):
    return torch.ops.scaled.gate(x, 0.5)
