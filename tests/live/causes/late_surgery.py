import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return self.act(self.fc(x))

net = Net()
fast = torch.compile(net, backend="aot_eager")
for act in (torch.nn.ReLU(), torch.nn.GELU(), torch.nn.SiLU()):
    net.act = act
    fast(torch.ones(2, 4))
