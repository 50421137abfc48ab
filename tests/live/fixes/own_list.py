import torch

FIX = r"If the compiled function itself changes SEEN"
SEEN = []

def before(x):
    SEEN.append(1)
    return x * 2 + 0 * len(SEEN)

def after(x):
    return x * 2

def calls():
    SEEN.clear()
    for i in range(4):
        yield torch.ones(3),
