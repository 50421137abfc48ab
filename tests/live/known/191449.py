"""pytorch#191449: two outputs that are aliases of one another."""
import torch


def main():
    def f(x):
        y = x * 2
        return y, y.view(-1), y.view(-1)

    a, b, c = torch.compile(f)(torch.ones(2, 2))
    assert b is not c, "other numbers: one object for two outputs"
