import torch
from torch.export import Dim

class Net(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] > 8:
            return x * 2
        return x + 1

batch = Dim("batch", min=2, max=64)
torch.export.export(Net(), (torch.ones(16, 3),), dynamic_shapes={"x": {0: batch}})
