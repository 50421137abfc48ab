import torch

FIX = r"same length"

def before(x, extra):
    return x + len(extra)

after = before

def calls():
    for n in (1, 2, 3):
        yield torch.ones(3), torch.ones(3) if AFTER else [1] * n
SAME_VALUES = False
