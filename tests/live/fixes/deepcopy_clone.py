import copy

import torch

FIX = r"x.clone\(\)"
EDIT = "x.clone()"

def before(x):
    y = x * 2
    return copy.deepcopy(y) + 1

def after(x):
    y = x * 2
    return y.clone() + 1

def calls():
    yield torch.ones(3),
