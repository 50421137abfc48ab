import torch

FIX = r"torch.compile\(f, dynamic=True\)    # an int"
EDIT = "dynamic=True"
AFTER_COMPILE = dict(dynamic=True)

def setup_both():  # else torch itself makes it dynamic after the first change, and there is nothing to do
    torch._dynamo.config.automatic_dynamic_shapes = False

def before(x, n):
    return x * n

after = before

def calls():
    for n in (2, 3, 4):
        yield torch.ones(3), n
