import torch

class Net(torch.nn.Module):
    def forward(self, x, lengths):
        return x * lengths[:, None]

torch.export.export(Net(), (torch.ones(2, 4),))
