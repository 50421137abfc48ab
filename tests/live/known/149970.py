"""pytorch#149970: copy.deepcopy of an object."""
import copy

import torch


class Config:
    def __init__(self):
        self.a = [1, 2]


c = Config()


def f(x):
    return x + copy.deepcopy(c).a[1]


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
