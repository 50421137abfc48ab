import time

import torch

FIX = r"outside (of )?the compiled function and pass it in"

def before(x):
    start = time.time()
    return x * 2 + 0 * (start > 0)

def after(x):
    return x * 2

def calls():
    yield torch.ones(3),
