"""pytorch#134030: a generator's body runs before the context that surrounds its next()."""
import torch


class Mode:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(True)

    def __exit__(self, *a):
        torch._C._set_grad_enabled(self.before)


def gen(x):
    try:
        torch.set_default_dtype(torch.float64)
        yield x + torch.ones(2)
    finally:
        torch.set_default_dtype(torch.float32)


def f(x):
    g = gen(x)
    with Mode():
        y = next(g)
    return y + torch.ones(2)


def main():
    y = torch.compile(f, backend="eager")(torch.zeros(2))
    assert y.dtype == torch.float64, "other numbers: " + str(y.dtype)
