# model.py | 213
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(128, 10)

    def forward(self, x):
        x = x.flatten(1)
        return self.fc(x)

net = torch.compile(Net(), fullgraph=True)
net(torch.randn(4, 2, 63))
