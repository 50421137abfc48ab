import torch

w = torch.nn.Parameter(torch.ones(3))

@torch.compile(backend="aot_eager")
def step(x):
    loss = (w * x).sum()
    loss.backward()
    return loss

step(torch.ones(3))
