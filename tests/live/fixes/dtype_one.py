import torch

FIX = r"x = x.to\(dtype\)"

def before(x):
    return x * 2

after = before

def calls():
    for dtype in (torch.float32, torch.float64):
        x = torch.ones(3, dtype=dtype)
        yield x.to(torch.float32) if AFTER else x,
