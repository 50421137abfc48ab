"""A program that Dynamo cannot capture."""
import torch
import collections

N = 4
names = [f"layer{i}" for i in range(N)]

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(N))
        self.seen = collections.Counter()

    def forward(self, x):
        for name, layer in zip(names, self.layers):
            x = torch.tanh(layer(x))
            if name == "layer2":
                self.note(name, x)
        return x.sum()

    def note(self, name, x):
        self.seen[name] += 1
        if x.sum() > 1e9:
            print("large")

torch.manual_seed(0)
net = torch.compile(Net(), fullgraph=True)
for step in range(2):
    with torch.no_grad():
        print(step, float(net(torch.randn(2, 4))))
