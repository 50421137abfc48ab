import torch
from torch.export import Dim

class Net(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(4, 3)

torch.export.export(Net(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: Dim("batch")}})
