import torch
from torch._higher_order_ops.scan import scan

FIX = r"new\.to\(carry\.dtype\)"

def wrong(carry, x):
    return (carry + x).double(), carry + x

def right(carry, x):
    return (carry + x).double().to(carry.dtype), carry + x

def before(xs):
    return scan(wrong, torch.zeros(3), xs)[1]

def after(xs):
    return scan(right, torch.zeros(3), xs)[1]

EAGER = after

def calls():
    yield torch.ones(5, 3),
