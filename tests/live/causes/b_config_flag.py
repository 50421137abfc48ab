import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)
        self.drop = 0.1

    def forward(self, x):
        return self.fc(x) * (1 - self.drop)

net = Net()
run = torch.compile(net, backend="aot_eager")
for drop in (0.1, 0.2, 0.3):
    net.drop = drop
    run(torch.ones(2, 4))
