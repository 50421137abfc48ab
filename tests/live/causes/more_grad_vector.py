import torch

def f(x):
    return x * x

@torch.compile(backend="aot_eager")
def g(x):
    return torch.func.grad(f)(x)

g(torch.ones(3))
