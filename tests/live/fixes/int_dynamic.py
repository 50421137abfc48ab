import torch

FIX = r"n = torch.tensor\("
EDIT = "n = torch.tensor("

def before(x, n):
    return x * n

after = before

def calls():
    for n in (2, 3, 4):
        yield torch.ones(3), torch.tensor(n) if AFTER else n
