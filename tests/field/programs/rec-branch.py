# loop.py | 213 | TORCH_LOGS=recompiles,dynamic
import torch

@torch.compile(backend="eager", dynamic=True)
def step(x):
    y = x * 2
    if x.shape[0] > 16:
        y = y.sum(0)
    return y

for n in (4, 40):
    step(torch.ones(n, 3))
