"""pytorch#128651: a contextlib.contextmanager in compiled code."""
import contextlib

import torch

seen = []


@contextlib.contextmanager
def note():
    try:
        yield
    finally:
        seen.append(4)


def f(x):
    with note():
        y = x + len(seen)
    return y + len(seen)


def main():
    y = torch.compile(f, backend="eager", fullgraph=True)(torch.zeros(1))
    assert y.item() == 1 and seen == [4], "other numbers"
