import torch

FIX = r"while_loop"
EDIT = "while_loop"

def before(x):
    while x.sum() < 100:
        x = x * 2
    return x

def after(x):
    from torch._higher_order_ops.while_loop import while_loop
    return while_loop(lambda x: x.sum() < 100, lambda x: (x * 2,), (x,))[0]

def calls():
    yield torch.ones(3),
