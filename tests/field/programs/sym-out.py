# repro.py | 215
import torch

def f(x, idx, src, out):
    torch.scatter(x, 0, idx, src, out=out)
    return out

x = torch.zeros(8)
idx = torch.arange(8)
src = torch.ones(8)
f(x, idx, src, torch.empty(8))
torch.compile(f, backend="eager", dynamic=True, fullgraph=True)(x, idx, src, torch.empty(8))
