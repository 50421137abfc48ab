import torch

class Net(torch.nn.Module):
    def forward(self, x):
        n = x.sum().item()
        if n > 2:
            return x * 2
        return x

torch.export.export(Net(), (torch.ones(3),))
