# train.py | 213
import math, torch

def loss_fn(x, w):
    return torch.log((x * w).sum(-1)).mean()

step = torch.compile(loss_fn)
w = torch.randn(8, requires_grad=True)
for it in range(3):
    loss = step(-torch.ones(4, 8), w.abs() + 1)
    if math.isnan(loss.item()):
        raise ValueError(f"loss is nan at step {it}")
