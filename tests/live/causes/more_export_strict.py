import torch
from dataclasses import dataclass

@dataclass
class Out:
    a: torch.Tensor

class Net(torch.nn.Module):
    def forward(self, x):
        return Out(x + 1)

torch.export.export(Net(), (torch.ones(3),), strict=True)
