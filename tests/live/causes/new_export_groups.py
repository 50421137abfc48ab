import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x.view(-1, 8, x.shape[1]).mean(1)

n = torch.export.Dim("n", min=8, max=4096)
torch.export.export(Net(), (torch.ones(64, 4),), dynamic_shapes=({0: n},))
