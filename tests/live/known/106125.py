"""pytorch#106125: __dict__ of a module."""
import torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = 1

    def forward(self, x):
        return x + self.__dict__["a"]


m = M()
f = lambda x: m(x)
args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
