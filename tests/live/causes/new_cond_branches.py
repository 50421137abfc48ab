import torch

@torch.compile(backend="aot_eager", fullgraph=True)
def f(x):
    return torch.cond(x.sum() > 0, lambda x: (x, x + 1), lambda x: x - 1, (x,))

f(torch.ones(3))
