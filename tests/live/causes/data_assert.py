import torch

@torch.compile(backend="aot_eager")
def model(x):
    y = x * 2
    assert y.sum() > 0, "negative"
    return y + 1

model(torch.ones(3))
