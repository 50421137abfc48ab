import torch

FIX = r"target = target\.long\(\)"
EDIT = "target = target.long()"
SAME_VALUES = False

def before(logits, target):
    return torch.nn.functional.cross_entropy(logits, target)

def after(logits, target):
    return torch.nn.functional.cross_entropy(logits, target.long())

EAGER = after

def calls():
    yield torch.eye(4), torch.ones(4)
