# main.py | 213 | TORCH_LOGS=graph_breaks
import torch

def one(x):
    print("in", x.shape)
    return x.sin()

@torch.compile(backend="eager")
def step(x):
    return torch.vmap(one)(x)

step(torch.ones(3, 2))
print("all fine")
