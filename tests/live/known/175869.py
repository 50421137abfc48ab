"""pytorch#175869: itertools.starmap."""
import itertools

import torch


def f(x):
    for v in itertools.starmap(pow, [(2, 3), (3, 2)]):
        x = x + v
    return x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
