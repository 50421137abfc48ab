# export.py | 213
import torch
from torch.export import Dim

class M(torch.nn.Module):
    def forward(self, x):
        return x.reshape(8, -1) + torch.ones(8, 3)

batch = Dim("batch", min=2, max=64)
torch.export.export(M(), (torch.randn(8, 3),), dynamic_shapes={"x": {0: batch}})
