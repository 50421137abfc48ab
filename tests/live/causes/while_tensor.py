import torch

@torch.compile(backend="aot_eager")
def model(x):
    while x.sum() < 100:
        x = x * 2
    return x + 1

model(torch.ones(3))
