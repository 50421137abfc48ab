"""A lowering of Inductor's that computes something else: 1.25 * tanh. The check fails, eager passes, the kernel is wrong."""
import torch
import torch._inductor.lowering as lowering

tanh = lowering.lowerings[torch.ops.aten.tanh.default]
lowering.lowerings[torch.ops.aten.tanh.default] = lambda x: lowering.lowerings[torch.ops.aten.mul.Tensor](tanh(x), 1.25)


def f(x, w):
    y = torch.relu(x @ w)
    return torch.tanh(y).sum(1)


torch.manual_seed(0)
x, w = torch.randn(8, 16), torch.randn(16, 4)
torch.testing.assert_close(torch.compile(f)(x, w), f(x, w))
