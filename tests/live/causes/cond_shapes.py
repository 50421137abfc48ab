import torch

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    return torch.cond(x.sum() > 0, lambda x: x[:2], lambda x: x.double(), (x,))

model(torch.ones(3))
