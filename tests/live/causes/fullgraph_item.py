import torch

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    n = x.sum().item()
    return x * n

model(torch.ones(3))
