import torch

FIX = r"clone\(\)"
EDIT = "clone()"
COMPILE = dict(fullgraph=True)

def before(x):
    return torch.cond(x.sum() > 0, lambda x: x, lambda x: x * 2, (x,))

def after(x):
    return torch.cond(x.sum() > 0, lambda x: x.clone(), lambda x: x * 2, (x,))

def EAGER(x):  # torch.cond itself refuses in eager
    return x if x.sum() > 0 else x * 2

def calls():
    yield torch.ones(3),
