"""pytorch#115122: copy.deepcopy of a dict."""
import copy

import torch


def f(x):
    return x + copy.deepcopy({"a": [1]})["a"][0]


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
