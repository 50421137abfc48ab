"""pytorch#196173: control flow on the identity of objects that change."""
import torch


class Box:
    def __init__(self):
        self.n = 0


def f(x, a, b):
    a.n += 1
    if a is b:
        b.n += 10
    return x + a.n + b.n


def main():
    g = torch.compile(f, backend="eager")
    a, b = Box(), Box()
    c, d = Box(), Box()
    for p, q, r, s in ((a, b, c, d), (a, a, c, c), (b, a, d, c)):
        assert g(torch.zeros(1), p, q).item() == f(torch.zeros(1), r, s).item(), "other numbers"
