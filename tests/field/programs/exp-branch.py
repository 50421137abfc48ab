# export.py | 213
import torch

class M(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

torch.export.export(M(), (torch.randn(3),))
