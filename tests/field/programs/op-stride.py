# app.py | 213
import torch

@torch.library.custom_op("shop::turn", mutates_args=())
def turn(x: torch.Tensor) -> torch.Tensor:
    return x.t().clone(memory_format=torch.contiguous_format)

@turn.register_fake
def _(x):
    return torch.empty_like(x)

def f(x):
    return turn(x.sin()) + 1

torch.compile(f)(torch.ones(3, 4))
