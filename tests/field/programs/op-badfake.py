# app.py | 213
import torch

TABLE = {"cpu": 2.0}

@torch.library.custom_op("shop::price", mutates_args=())
def price(x: torch.Tensor) -> torch.Tensor:
    return x * TABLE[x.device.type]

@price.register_fake
def _(x):
    return torch.empty_like(x) * TABLE["meta"]

def f(x):
    return price(x) + 1

torch.compile(f, backend="eager", fullgraph=True)(torch.ones(3))
