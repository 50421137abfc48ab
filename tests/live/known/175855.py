"""pytorch#175855: a list that grows while it is iterated over."""
import torch


def f(x):
    l = [1, 2]
    n = 0
    for v in l:
        n += v
        if len(l) < 4:
            l.append(3)
    return x + n


args = [torch.zeros(2)]
how = {"backend": "eager"}
