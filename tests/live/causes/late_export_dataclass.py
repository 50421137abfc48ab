import torch
from dataclasses import dataclass

@dataclass
class Output:
    logits: torch.Tensor
    hidden: torch.Tensor

class Net(torch.nn.Module):
    def forward(self, x):
        h = x.relu()
        return Output(h.sum(-1), h)

torch.export.export(Net(), (torch.ones(4, 3),))
