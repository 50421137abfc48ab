"""pytorch#127172: getattr with a default on the type of an int."""
import torch


class C:
    foo = 1


def f(x):
    for m in (C(), 0):
        if getattr(type(m), "foo", 0):
            x = x + 1
    return x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
