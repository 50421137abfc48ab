"""Two ranks, each compiles a model of blocks of different sizes: many kernels that differ."""
import os
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(0)


class Block(torch.nn.Module):
    def __init__(self, size, to):
        super().__init__()
        self.norm = torch.nn.LayerNorm(size)
        self.up = torch.nn.Linear(size, 2 * size)
        self.down = torch.nn.Linear(2 * size, to)

    def forward(self, x):
        h = torch.nn.functional.gelu(self.up(self.norm(x)))
        return self.down(h).softmax(-1).cumsum(-1)


@torch.compile
def broken(x):
    y = x.sin()
    print("step", flush=True)
    return y.cos()


sizes = [8 + 3 * i for i in range(int(sys.argv[1]) + 1)]
model = torch.compile(torch.nn.Sequential(*(Block(a, b) for a, b in zip(sizes, sizes[1:]))))
broken(torch.ones(4))
for batch in (4, 6):
    broken(torch.ones(batch))
    model(torch.randn(batch, sizes[0])).sum().backward()
dist.barrier()
dist.destroy_process_group()
