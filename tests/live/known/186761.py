"""pytorch#186761: set.discard and set.remove of a list."""
import torch


def f(x):
    s = {1}
    try:
        s.discard([])
    except TypeError:
        x = x + 1
    try:
        s.remove([])
    except TypeError:
        x = x + 2
    return x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
