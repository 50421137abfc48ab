import torch

def parts(x):
    return x, x + 1, x + 2

def f(x):
    a, b = parts(x)
    return a + b

torch.compile(f, backend="aot_eager")(torch.ones(3))
