import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.Linear(4, 8)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        return self.lstm(x - self.mean).softmax(-1)

ep = torch.export.export(Net(), (torch.ones(3, 4),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
ep.module()(torch.ones(7, 4))
