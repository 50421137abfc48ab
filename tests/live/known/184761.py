"""pytorch#184761: a set is looked up in a set of frozensets."""
import torch


def f(x):
    s = {frozenset({1}), frozenset({2})}
    return x + 1 if {1} in s else x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
