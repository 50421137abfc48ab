"""pytorch#96197: a builtin function as default of a dataclass's field."""
import dataclasses

import torch


@dataclasses.dataclass
class D:
    fn: object = max

    def __call__(self, a, b):
        return self.fn(a, b)


d = D()
f = lambda x: x + d(1, 2)
args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
