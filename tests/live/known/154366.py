"""pytorch#154366: a subclass of frozenset that is made in compiled code."""
import torch


class F(frozenset):
    pass


def f(x):
    s = F([1, 2, 2])
    return x + len(s)


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
