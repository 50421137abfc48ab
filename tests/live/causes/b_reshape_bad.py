import torch

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    y = x * 2
    return y.view(3, 5)

model(torch.ones(4, 4))
