import torch
import torch.nn as nn

DEBUG = {"calls": 0}


class Conv(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(d, d)

    def forward(self, x, edges):
        DEBUG["calls"] += 1
        src, dst = edges
        if int(dst.max()) >= x.shape[0]:
            raise IndexError("edge to a node that does not exist")
        agg = torch.zeros_like(x).index_add(0, dst, self.w(x)[src])
        deg = torch.zeros(x.shape[0]).index_add(0, dst, torch.ones(dst.shape[0]))
        return torch.relu(x + agg / deg.clamp(min=1)[:, None])
