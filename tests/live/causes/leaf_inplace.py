import torch

@torch.compile(backend="aot_eager")
def model(w):
    w.add_(1)
    return w * 2

model(torch.ones(3, requires_grad=True))
