import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.last = torch.zeros(2, 4)

    def forward(self, x):
        self.last = self.lin(x)
        return self.last.relu()

torch.export.export(Net(), (torch.ones(2, 4),), strict=False)
