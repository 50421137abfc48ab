"""pytorch#136481: dataclasses.replace."""
import dataclasses

import torch


@dataclasses.dataclass
class P:
    a: int = 1


def f(x):
    return x + dataclasses.replace(P(), a=4).a


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
