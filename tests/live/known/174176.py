"""pytorch#174176: torch.ops.aten.lift of a tensor that set made."""
import torch


def f(x, y):
    return torch.ops.aten.lift(torch.ops.aten.set(x, source=y))


args = [torch.randn(3, 4), torch.randn(3, 4)]
