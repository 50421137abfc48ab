import torch

@torch.compile(backend="aot_eager")
def model(a, b, c):
    best = sorted([a.sum(), b.sum(), c.sum()])
    return best[0] * 2

model(torch.ones(2), torch.zeros(2), torch.ones(2) * 3)
