"""pytorch#103706: return in a try with a finally."""
import torch

seen = []


def f(x):
    try:
        return x + 1
    finally:
        seen.append(1)


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
