"""pytorch#146504: an exception of the program is raised and caught."""
import torch


class Bad(Exception):
    pass


def f(x):
    try:
        raise Bad("no")
    except Bad:
        return x + 1


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
