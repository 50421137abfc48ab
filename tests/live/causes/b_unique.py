import torch

@torch.compile(backend="aot_eager")
def model(x):
    values = torch.unique(x)
    return values * 2

model(torch.tensor([1, 1, 2]))
