import torch
from torch.export import Dim

class Net(torch.nn.Module):
    def forward(self, ids, mask):
        return ids * mask

args = (torch.ones(4, 3), torch.ones(4, 3))
torch.export.export(Net(), args, dynamic_shapes={"ids": {0: Dim("b")}, "masks": {0: Dim("b")}})
