import torch

FIX = r"of the same requires_grad"

def before(x):
    return x * 2

after = before

def calls():
    for grad in (False, True):
        yield torch.ones(3, requires_grad=grad and not AFTER),
