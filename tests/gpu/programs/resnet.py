"""Training steps of a small ResNet in channels_last, with ReLU and dropout: resnet.py [BATCH [SIDE]]. With a root of something negative in the third stage: BAD=1.
Prints the loss of the last step, and "N ms per step"."""
import os
import sys

import torch
from torch import nn

import gpu


class Block(nn.Module):
    def __init__(self, inside, outside, stride, bad=False):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(),
                                  nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside))
        self.beside = nn.Conv2d(inside, outside, 1, stride, bias=False)
        self.drop = nn.Dropout(0.1)
        self.bad = bad

    def forward(self, x):
        x = torch.relu(self.body(x) + self.beside(x))
        if self.bad:
            x = torch.sqrt(x - 0.01)
        return self.drop(x)


def main():
    batch, side = (int(a) for a in (sys.argv[1:] + ["32", "224"][len(sys.argv) - 1:]))
    torch.manual_seed(0)
    bad = os.environ.get("BAD") == "1"
    model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Block(64, 64, 1),
                          Block(64, 128, 2), Block(128, 256, 2, bad), Block(256, 512, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    model = model.to(gpu.device, memory_format=torch.channels_last)
    x = torch.rand(batch, 3, side, side, device=gpu.device).to(memory_format=torch.channels_last)
    want = torch.arange(batch, device=gpu.device) % 10
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    f = torch.compile(model)
    loss = None

    def step():
        nonlocal loss
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(f(x), want)
        loss.backward()
        optimizer.step()

    ms = gpu.steps(step, 3)
    print(f"loss {gpu.total(loss):.3f}")
    print(f"{ms:.2f} ms per step")


main()
