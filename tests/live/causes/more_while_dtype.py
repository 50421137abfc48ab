import torch
from torch._higher_order_ops import while_loop

@torch.compile(backend="aot_eager", fullgraph=True)
def f(x):
    return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.double()), (torch.tensor(0), x))

f(torch.ones(3))
