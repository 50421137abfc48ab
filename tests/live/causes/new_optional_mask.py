import torch

@torch.compile(backend="aot_eager")
def pool(x, mask=None):
    if mask is not None:
        x = x * mask
    return x.mean(1)

x = torch.ones(2, 5)
pool(x)
pool(x, torch.ones(2, 5))
pool(x, torch.ones(2, 5, dtype=torch.bool))
