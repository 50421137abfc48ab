import torch

@torch.compile(backend="aot_eager")
def model(x):
    return torch.sin(x) * 2

model(torch.ones(4))
