import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x):
        self.lin.weight.data = self.lin.weight.data * 0.9
        return self.lin(x)

net = torch.compile(Net(), backend="aot_eager", fullgraph=True)
for i in range(3):
    net(torch.ones(2, 4)).sum().backward()
