"""pytorch#126619: an int64 vector and a C++ int."""
import torch


def f(x):
    i = torch.arange(x.shape[0])
    return torch.where((i % 2 == 0) & (i < 20), x, x * i) ** 2


args = [torch.randn(64)]
how = {"dynamic": True}
