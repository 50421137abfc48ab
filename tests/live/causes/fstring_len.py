import torch

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    label = f"{y.sum()}"
    return y * len(label)

model(torch.ones(3))
