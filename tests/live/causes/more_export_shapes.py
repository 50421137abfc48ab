import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 2)
    def forward(self, x):
        h = x.relu()
        return self.fc(h)

torch.export.export(Net(), (torch.ones(3, 9),))
