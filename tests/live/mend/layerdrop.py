# stochastic depth by Python's random, a counter of the dropped layers, a progress line every other step
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return x + F.silu(self.fc(self.norm(x)))


class Stack(nn.Module):
    def __init__(self, d=16, n=4, drop=0.3):
        super().__init__()
        self.layers = nn.ModuleList([Residual(d) for _ in range(n)])
        self.head = nn.Linear(d, 3)
        self.drop = drop
        self.dropped = 0

    def forward(self, x):
        for layer in self.layers:
            if self.training and random.random() < self.drop:
                self.dropped += 1
                continue
            x = layer(x)
        if torch.isnan(x).any():
            print("NaN in the residual stream")
        return self.head(x)


random.seed(3)
torch.manual_seed(0)
model = Stack()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
net = torch.compile(model)
for step in range(8):
    x = torch.randn(8, 16)
    y = torch.randint(0, 3, (8,))
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.zero_grad()
    if step % 2 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("dropped", model.dropped)
