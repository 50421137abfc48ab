import torch

FIX = r"n = torch.tensor\("
EDIT = "n = torch.tensor("

def setup_both():  # else torch itself makes it dynamic after the first change, and there is nothing to do
    torch._dynamo.config.automatic_dynamic_shapes = False

def before(x, n):
    return x * n

after = before

def calls():
    for n in (2, 3, 4):
        yield torch.ones(3), torch.tensor(n) if AFTER else n
