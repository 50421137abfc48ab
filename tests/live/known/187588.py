"""pytorch#187588: a subclass of deque."""
import collections

import torch


class Deque(collections.deque):
    pass


def f(x):
    d = Deque([1, 2], maxlen=2)
    d.append(3)
    return x + d[0]


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
