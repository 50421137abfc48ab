# export.py | 213
import torch

class Same(torch.nn.Module):
    def forward(self, a, b):
        if torch.equal(a, b):
            return a
        return a + b

torch.export.export(Same(), (torch.ones(3), torch.zeros(3)), strict=False)
