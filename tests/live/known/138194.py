"""pytorch#138194: the maxlen of a deque."""
import collections

import torch


def f(x):
    d = collections.deque([1, 2], maxlen=2)
    d.append(3)
    return x + d[0]


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
