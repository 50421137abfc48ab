import torch

def f(x, flag):
    if flag:
        y = x * 2
    return y + 1

torch.compile(f, backend="aot_eager", fullgraph=True)(torch.ones(3), False)
