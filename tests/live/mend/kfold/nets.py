import torch
import torch.nn as nn


class Norm(nn.Module):
    """Running statistics by hand: the number of updates is a Python int, momentum depends on it."""

    def __init__(self, d):
        super().__init__()
        self.register_buffer("mean", torch.zeros(d))
        self.steps = 0

    def forward(self, x):
        if self.training:
            self.steps += 1
            m = 1.0 / self.steps
            self.mean.mul_(1 - m).add_(x.detach().mean(0) * m)
        return x - self.mean


class MLP(nn.Module):
    def __init__(self, d, out):
        super().__init__()
        self.norm = Norm(d)
        self.body = nn.Sequential(nn.Linear(d, 24), nn.ReLU(), nn.Linear(24, out))

    def forward(self, x):
        y = self.body(self.norm(x))
        if y.abs().mean().item() > 30:
            print("outputs grow")
        return y
