"""A custom operator of a module beside the program, whose backward has a wrong shape."""
import scaled
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.second(scaled.gated(self.first(x).relu()))


print(scaled.norm_of(torch.ones(3)))
torch.compile(Model())(torch.randn(5, 8)).sum().backward()
