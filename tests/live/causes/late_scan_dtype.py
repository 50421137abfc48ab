import torch
from torch._higher_order_ops.scan import scan

def step(carry, x):
    total = carry + x
    return total.double(), total

@torch.compile(backend="aot_eager", fullgraph=True)
def model(xs):
    return scan(step, torch.zeros(3), xs)[1]

model(torch.ones(5, 3))
