import torch
import torch.nn.functional as F

FIX = r"target = target\.long\(\)"
EDIT = "target = target.long()"
SAME_VALUES = False

def before(x, target):
    return F.nll_loss(x.log_softmax(-1), target)

def after(x, target):
    return F.nll_loss(x.log_softmax(-1), target.long())

EAGER = after

def calls():
    yield torch.eye(4), torch.ones(4)
