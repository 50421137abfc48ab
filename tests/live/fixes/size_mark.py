import torch

FIX = r"mark_dynamic\(x, 0\)"
EDIT = "mark_dynamic(x, 0)"

def before(x):
    return x * 2

after = before

def calls():
    for n in (3, 5, 7):
        x = torch.ones(n, 2)
        if AFTER:
            torch._dynamo.mark_dynamic(x, 0)
        yield x,
