import torch

FIX = r"contiguous\(\)"
EDIT = "contiguous()"

def before(x):
    return x * 2

after = before

def calls():
    for x in (torch.ones(4, 3), torch.ones(3, 4).t()):
        yield x.contiguous() if AFTER else x,
