"""pytorch#193580: frozenset has no add: an internal assertion."""
import torch


def main():
    def f(s, x):
        try:
            s.add(4)
        except AttributeError:
            return x + 1
        return x

    torch.compile(f, backend="eager")(frozenset({1}), torch.ones(1))
