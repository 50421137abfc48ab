"""pytorch#141283: set.update with a map object."""
import torch


def f(x, s, ns):
    s.update(map(int, ns))
    return x + len(s)


def main():
    torch.testing.assert_close(torch.compile(f, backend="eager")(torch.ones(2), set(), [1, 2, 1]), torch.full((2,), 3.0))
