import torch

FIX = r"copy_\(value\)"
EDIT = "copy_(value)"

def before(x):
    y = torch.zeros(3)
    y.data = x + 1
    return y * 2

def after(x):
    y = torch.zeros(3)
    with torch.no_grad():
        y.copy_(x + 1)
    return y * 2

def calls():
    yield torch.ones(3),
