import torch

FIX = r"torch._check\("
EDIT = "torch._check("
COMPILE = dict(fullgraph=True)

def before(x):
    n = x.max().item()
    if n > 2:
        return x * 2
    return x

def after(x):
    n = x.max().item()
    torch._check(n > 2)
    if n > 2:
        return x * 2
    return x

def setup_both():
    torch._dynamo.config.capture_scalar_outputs = True

def calls():
    yield torch.tensor([1, 2, 5]),
