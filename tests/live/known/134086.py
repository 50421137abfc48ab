"""pytorch#134086: __class__ of a tuple."""
import torch


def f(x):
    t = (x, x)
    return t.__class__([v + 1 for v in t])[0]


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
