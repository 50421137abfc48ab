import torch
from torch.export import Dim

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.sin(x) + x.shape[0]

torch.export.export(Net(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: Dim("batch", max=64)}}, strict=True)
