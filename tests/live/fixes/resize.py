import torch

FIX = r"make a new tensor"

def before(x):
    y = x + 1
    y.resize_(2)
    return y * 2

def after(x):
    y = (x + 1)[:2].clone()
    return y * 2

def calls():
    yield torch.ones(3),
