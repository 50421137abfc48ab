"""pytorch#174069: argmax of a bool tensor over a dimension."""
import torch


def main():
    x = torch.randint(0, 2, (16, 64)) > 0
    f = torch.compile(lambda x: x.argmax(dim=1))
    assert torch.equal(f(x), x.int().argmax(dim=1)), "other numbers"
