import torch

@torch.compile(backend="aot_eager")
def act(x):
    y = x.exp()
    y += 1
    return y

w = torch.ones(3, requires_grad=True)
act(w).sum().backward()
