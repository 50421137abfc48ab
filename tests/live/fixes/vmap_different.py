import torch

FIX = r"randomness=.different."
EDIT = "randomness="
SAME_VALUES = False

def noisy(row):
    return row + 0 * torch.randn(3)

def before(x):
    return torch.func.vmap(noisy)(x)

def after(x):
    return torch.func.vmap(noisy, randomness="different")(x)

EAGER = after

def calls():
    yield torch.ones(4, 3),
