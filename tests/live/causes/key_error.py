import torch

TABLE = {"a": 1}

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x, key):
    return x * TABLE[key]

model(torch.ones(3), "missing")
