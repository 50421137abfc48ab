import torch

FIX = r"x.where\(mask, 0\)"
EDIT = "x.where(mask, 0)"

def before(x):
    return x[x > 0].sum()

def after(x):
    return x.where(x > 0, 0).sum()

def calls():
    yield torch.tensor([1.0, -2.0, 3.0]),
