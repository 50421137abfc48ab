"""pytorch#115741: a TorchFunctionMode around compiled code."""
import torch


class Twice(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out * 2 if isinstance(out, torch.Tensor) else out


def main():
    f = torch.compile(lambda x: x.view(-1), backend="eager")
    with Twice():
        y = f(torch.ones(3))
    assert y[0] == 2, "other numbers"
