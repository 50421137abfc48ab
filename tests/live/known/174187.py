"""pytorch#174187: a constant tensor that is written to replaces another of the same values."""
import torch


def f(x):
    a = torch.zeros(4)
    b = torch.zeros(4)
    a.add_(x)
    return a, b, torch.full((4,), 0.0) + b


args = [torch.ones(4)]
