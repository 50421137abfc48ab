import torch

def f(x):
    mask = x > 0
    return x * (1 - mask)

torch.compile(f, backend="aot_eager", fullgraph=True)(torch.ones(3))
