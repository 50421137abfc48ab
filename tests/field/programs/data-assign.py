# ema.py | 213
import torch

p = torch.nn.Parameter(torch.ones(4))

def update(x):
    p.data = x.to(torch.complex64).reshape(2, 2)
    return p + 1

torch.compile(update, fullgraph=True, backend="aot_eager")(torch.ones(4))
