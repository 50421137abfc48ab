"""pytorch#171274: match with a class pattern."""
import dataclasses

import torch


@dataclasses.dataclass
class P:
    a: int = 1


p = P(3)


def f(x):
    match p:
        case P(a=v):
            return x + v
    return x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
