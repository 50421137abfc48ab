"""pytorch#107595: a defaultdict whose keys are tuples of enum members."""
import collections
import enum

import torch


class C(enum.Enum):
    A = 1
    B = 2


d = collections.defaultdict(int)
d[(C.A, C.B)] = 2


def f(x):
    for k, v in d.items():
        x = x * v
    return x


args = [torch.ones(4)]
how = {"backend": "eager", "fullgraph": True}
