"""pytorch#176851: an attribute of the class that changes between calls."""
import torch


class C:
    k = 1


def main():
    f = torch.compile(lambda x: x * C.k, backend="eager")
    f(torch.ones(1))
    C.k = 5
    assert f(torch.ones(1)).item() == 5, "other numbers"
