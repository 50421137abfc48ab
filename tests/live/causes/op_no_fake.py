import torch
from torch import Tensor

@torch.library.custom_op("shop::scale", mutates_args=())
def scale(x: Tensor, f: float) -> Tensor:
    return x * f

def model(x):
    y = x + 1
    return scale(y, 2.0)

print(model(torch.ones(4)))
torch.compile(model, backend="aot_eager", fullgraph=True)(torch.ones(4))
