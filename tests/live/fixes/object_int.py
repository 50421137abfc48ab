import torch

FIX = r"[A-Z]+(\.n)? = torch.tensor\("

class Counter:
    n = 2

COUNTER = Counter()

def before(x):
    return x * COUNTER.n

after = before

def calls():
    for n in (2, 3, 4, 5):
        COUNTER.n = torch.tensor(n) if AFTER else n
        yield torch.ones(3),
