"""pytorch#154063: operators between the keys of a dict and a set."""
import torch


def f(x):
    d = {"a": 1, "b": 2}
    left = d.keys() - {"a"}
    both = d.keys() & {"a", "c"}
    return x + len(left) + 10 * len(both) + 100 * len(frozenset("ab") ^ {"a"})


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
