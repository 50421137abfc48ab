import torch

FIX = r"dynamic=True"
EDIT = "dynamic=True"

def before(x):
    return x * 2

after = before
AFTER_COMPILE = dict(dynamic=True)

def calls():
    for n in (3, 5, 7):
        yield torch.ones(n, 2),
