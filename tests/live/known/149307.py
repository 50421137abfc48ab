"""pytorch#149307: isin of a tensor that arange made."""
import torch


def f(*a):
    return torch.isin(torch.arange(start=a[0], end=a[1], step=1), a[2], assume_unique=a[3])


args = [0, 1024, 1, True]
