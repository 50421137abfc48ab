import torch

@torch.compile(backend="aot_eager")
def model(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    return y.sin()

model(torch.ones(3, requires_grad=True)).sum().backward()
