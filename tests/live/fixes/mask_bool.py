import torch

FIX = r"mask = mask\.bool\(\)"
EDIT = "mask = mask.bool()"
SAME_VALUES = False

def before(x, mask):
    y = x * 2
    return y.masked_fill(mask, -1.0)

def after(x, mask):
    y = x * 2
    mask = mask.bool()
    return y.masked_fill(mask, -1.0)

EAGER = after

def calls():
    yield torch.ones(4), torch.tensor([0.0, 1.0, 0.0, 1.0])
