import torch

def pick(x):
    y = x + 1
    return y[5]

torch.compile(pick, backend="aot_eager", fullgraph=True)(torch.ones(3))
