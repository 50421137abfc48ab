"""pytorch#173557: a frozenset as a result."""
import torch


def main():
    def f(x):
        return x + 1, frozenset([x.shape[0], 3])

    assert torch.compile(f, backend="eager", fullgraph=True)(torch.ones(2))[1] == frozenset([2, 3]), "other numbers"
