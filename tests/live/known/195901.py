"""pytorch#195901: contextlib.closing, and others that the CPython tests found."""
import contextlib

import torch


class C:
    def close(self):
        pass


def main():
    def f(x):
        with contextlib.closing(C()):
            return x + 1

    torch.compile(f, backend="eager", fullgraph=True)(torch.ones(1))
