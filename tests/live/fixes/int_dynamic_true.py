import torch

FIX = r"torch.compile\(f, dynamic=True\)    # an int"
EDIT = "dynamic=True"
AFTER_COMPILE = dict(dynamic=True)

def before(x, n):
    return x * n

after = before

def calls():
    for n in (2, 3, 4):
        yield torch.ones(3), n
