import torch

FIX = r"keep the value a tensor"
EDIT = "keep the value a tensor"

def before(x):
    return x * x.mean().item()

def after(x):
    return x * x.mean()

def calls():
    yield torch.ones(3),
