"""pytorch#142050: a method of an IntEnum."""
import enum

import torch


class Mode(enum.IntEnum):
    A = enum.auto()
    B = enum.auto()

    def is_b(self):
        return self == Mode.B


def f(x):
    return x + 1 if Mode.B.is_b() else x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
