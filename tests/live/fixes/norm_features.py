import torch

FIX = r"LayerNorm\(x\.shape\[-1\]\)"
GOOD, BAD = torch.nn.LayerNorm(5), torch.nn.LayerNorm(4)

def before(x):
    return BAD(x)

def after(x):
    return GOOD(x)

EAGER = after

def calls():
    yield torch.arange(15.0).reshape(3, 5),
