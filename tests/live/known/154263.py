"""pytorch#154263: a subclass of frozenset."""
import torch


class F(frozenset):
    pass


s = F({1, 2})


def f(x):
    return x + 1 if 1 in s and len(s) == 2 else x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
