"""pytorch#188105: an attribute of an exception of the program."""
import torch


class Bad(Exception):
    def __init__(self, n):
        super().__init__("no", n)
        self.n = n


def f(x):
    try:
        raise Bad(4)
    except Bad as e:
        return x + e.n


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
