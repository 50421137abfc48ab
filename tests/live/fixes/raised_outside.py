import torch

FIX = r"move the line out of the compiled function"

def before(x):
    label = f"{x.sum()}"
    return x * (1 + 0 * len(label))

def after(x):
    return x * 1

def calls():
    yield torch.ones(3),
