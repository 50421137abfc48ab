import torch

FIX = r"scale = torch.tensor\("
EDIT = "scale = torch.tensor("

def before(x, scale):
    return x * scale

after = before

def calls():
    for f in (0.5, 1.5, 2.5):
        yield torch.ones(3), torch.tensor(f) if AFTER else f
