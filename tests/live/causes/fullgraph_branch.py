import torch

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    if x.sum() > 0:
        return x * 2
    return x

model(torch.ones(3))
