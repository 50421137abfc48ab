# main.py | 213
import torch

def f(x, y):
    return torch.cat([x, y], dim=1)

a, b = torch.ones(2, 3), torch.ones(3, 3)
try:
    f(a, b)
except RuntimeError as e:
    print("eager failed with:", e)
torch.compile(f, backend="eager", fullgraph=True)(a, b)
