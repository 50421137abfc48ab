"""pytorch#123550: an IntEnum as index of a later dimension."""
import enum

import torch


class A(enum.IntEnum):
    I = 0


f = lambda t: t[:, A.I]
args = [torch.rand(1, 15)]
how = {"backend": "eager", "fullgraph": True}
