"""pytorch#194103: scatter with out= and dynamic sizes."""
import torch


def f(x, i, s):
    out = torch.empty_like(x)
    torch.scatter(x, 0, i, s, out=out)
    return out


args = [torch.zeros(5), torch.tensor([0, 2, 4]), torch.ones(3)]
how = {"dynamic": True}
