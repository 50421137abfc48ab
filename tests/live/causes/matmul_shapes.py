import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x):
        x = x.relu()
        return self.head(x)

torch.compile(Net(), backend="aot_eager")(torch.ones(3, 9))
