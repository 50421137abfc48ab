import torch
from dataclasses import dataclass

@dataclass(frozen=True)
class Out:
    mean: torch.Tensor
    n: int

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    return Out(x.mean(), x.shape[0])

for i in range(3):
    model(torch.ones(4))
