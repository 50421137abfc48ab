"""pytorch#129661: __dataclass_fields__ of an instance."""
import dataclasses

import torch


@dataclasses.dataclass
class D:
    a: int = 1
    b: int = 2


def f(x):
    d = D()
    for name, field in d.__dataclass_fields__.items():
        x = x + getattr(d, name)
    return x


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
