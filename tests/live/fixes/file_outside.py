import os
import torch

FIX = r"read or write the file outside"
with open(os.devnull) as f:
    SIZE = len(f.read()) + 2

def before(x):
    y = x * 2
    with open(os.devnull) as f:
        n = len(f.read())
    return y * (n + 2)

def after(x):
    return x * 2 * SIZE

def calls():
    yield torch.ones(3),
