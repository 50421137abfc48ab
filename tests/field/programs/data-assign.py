# ema.py | 213
import torch

p = torch.nn.Parameter(torch.ones(4))

def update(x):
    p.data = x.reshape(2, 2)
    return p + 1

torch.compile(update, fullgraph=True, backend="eager")(torch.ones(4))
