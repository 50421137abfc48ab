import torch

FIX = r"call it outside (of )?the compiled one"
EDIT = "torch.compiler.disable"

@torch.compiler.disable
def inner(x):
    return x * 2

def before(x):
    return inner(x + 1) - 1

def plain(x):
    return x * 2

def after(x):
    return plain(x + 1) - 1

def calls():
    yield torch.ones(3),
