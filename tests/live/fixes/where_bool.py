import torch

FIX = r"mask = mask\.bool\(\)"
EDIT = "mask = mask.bool()"
SAME_VALUES = False

def before(x, m):
    return torch.where(m, x * 2, x)

def after(x, m):
    return torch.where(m.bool(), x * 2, x)

EAGER = after

def calls():
    yield torch.ones(4), torch.tensor([0, 1, 0, 1])
