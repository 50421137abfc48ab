import torch

@torch.compile(backend="inductr")
def model(x):
    return x + 1

model(torch.ones(3))
