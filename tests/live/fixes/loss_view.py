import torch

FIX = r"target = target\.view_as\(output\)"
EDIT = "target = target.view_as(output)"
SAME_VALUES = False

def before(output, target):
    return torch.nn.functional.binary_cross_entropy_with_logits(output * 2, target)

def after(output, target):
    target = target.view_as(output)
    return torch.nn.functional.binary_cross_entropy_with_logits(output * 2, target)

EAGER = after

def calls():
    yield torch.ones(4, 1), torch.tensor([0.0, 1.0, 1.0, 0.0])
