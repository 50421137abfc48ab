"""pytorch#135573: an enum member in an attribute of the class is compared."""
import enum

import torch


class Kind(enum.Enum):
    A = 0
    B = 1


class Sample:
    kind = Kind.A

    def is_a(self):
        return self.kind == Kind.A


sample = Sample()
f = lambda x: x + 1 if sample.is_a() else x
args = [torch.ones(2)]
how = {"backend": "eager", "fullgraph": True}
