# main.py | 213 | TORCH_LOGS=graph_breaks
import torch

def step(x):
    y = torch.sin(x)
    n = y.sum().item()
    if n > 3:
        y = y - n
    return torch.cos(y)

f = torch.compile(step, backend="eager")
for _ in range(2):
    f(torch.randn(8))
print("done")
