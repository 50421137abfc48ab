# loop.py | 213 | TORCH_LOGS=recompiles
import torch

@torch.compile(backend="eager", dynamic=False)
def step(x, scale):
    return (x * scale).sum()

step(torch.ones(4, 8), 1.0)
step(torch.ones(5, 8), 1.0)
step(torch.ones(5, 8, dtype=torch.float64), 1.0)
step(torch.ones(5, 8, requires_grad=True), 1.0)
with torch.no_grad():
    step(torch.ones(5, 8), 1.0)
