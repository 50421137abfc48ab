"""pytorch#146347: iter of an enumerate that is passed in."""
import torch


def f(x, it):
    iter(it)
    return x.sin()


def main():
    torch.compile(f, backend="eager", fullgraph=True)(torch.ones(2), enumerate(range(3)))
