import torch

FIX = r"STEP = torch.tensor\("
EDIT = "STEP = torch.tensor("
STEP = 0

def before(x):
    return x * STEP

after = before

def calls():
    global STEP
    for n in (1, 2, 3):
        STEP = torch.tensor(n) if AFTER else n
        yield torch.ones(3),
