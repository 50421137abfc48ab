import torch

FIX = r"x = x \+ 1"
EDIT = "x = x + 1"

def before(w):
    w.add_(1)
    return w * 2

def after(w):
    w = w + 1
    return w * 2

EAGER = after

def calls():
    yield torch.ones(3, requires_grad=True),
