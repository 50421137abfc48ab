import torch

FIX = r"mark_dynamic becomes maybe_mark_dynamic"
EDIT = "maybe_mark_dynamic"

def before(x):
    return x + torch.ones(4, 3)

after = before

def calls():
    x = torch.ones(4, 3)
    (torch._dynamo.maybe_mark_dynamic if AFTER else torch._dynamo.mark_dynamic)(x, 0)
    yield x,
