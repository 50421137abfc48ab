import torch

def noisy(row):
    return row + torch.randn(3)

@torch.compile(backend="aot_eager")
def model(x):
    return torch.func.vmap(noisy)(x)

model(torch.ones(4, 3))
