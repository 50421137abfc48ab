"""pytorch#106885: heapq."""
import heapq

import torch


def f(x):
    h = []
    heapq.heappush(h, 3)
    heapq.heappush(h, 1)
    return x + heapq.heappop(h)


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
