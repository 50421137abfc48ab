"""pytorch#130554: a defaultdict that is made in compiled code."""
from collections import defaultdict

import torch


def f(x):
    d = defaultdict(list)
    d["sin"].append(x.cos())
    d["cos"].append(x.sin())
    return d["sin"][0] + d["cos"][0]


args = [torch.randn(2, 3)]
how = {"backend": "eager", "fullgraph": True}
