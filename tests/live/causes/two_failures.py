import torch

def first(x):
    return x @ x

def second(x):
    return x.sum().item() + 1

try:
    torch.compile(first, backend="aot_eager")(torch.ones(3, 4))
except Exception as e:
    print("caught", type(e))
torch.compile(second, backend="aot_eager", fullgraph=True)(torch.ones(3))
