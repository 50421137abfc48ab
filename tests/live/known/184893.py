"""pytorch#184893: argmin of a bool tensor over the first dimension."""
import torch


def main():
    x = torch.randint(0, 5, (33, 17)) > 0
    f = torch.compile(lambda x: x.argmin(dim=0))
    assert torch.equal(f(x), x.int().argmin(dim=0)), "other numbers"
