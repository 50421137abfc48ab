import torch

FIX = r"torch._assert_async\("
OF_MEND = True

def before(x):
    if x.sum() < 0: raise ValueError("negative")
    return x * 2

def after(x):
    torch._assert_async(x.sum() >= 0, "negative")
    return x * 2

def calls():
    yield torch.ones(3),
