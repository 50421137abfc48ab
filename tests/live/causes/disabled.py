import torch

@torch.compiler.disable
def inner(x):
    return x * 2

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    return inner(y) - 1

model(torch.ones(3))
