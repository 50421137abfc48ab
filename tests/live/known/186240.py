"""pytorch#186240: itertools.combinations_with_replacement."""
import itertools

import torch


def f(x):
    for a, b in itertools.combinations_with_replacement([1, 2, 3], 2):
        x = x + a * b
    return x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
