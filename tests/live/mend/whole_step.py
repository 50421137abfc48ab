# the whole training step is compiled: zero_grad, backward, clipping with a check of the norm, optimizer, a history of floats
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
history = []


@torch.compile
def train_step(x, y):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not math.isfinite(norm.item()):
        print("skipping the step: norm", norm.item())
        return loss
    opt.step()
    history.append(loss.item())
    return loss


for i in range(7):
    x = torch.randn(16 if i < 6 else 5, 10)
    y = (x[:, 0] > 0).long()
    loss = train_step(x, y)
    if i % 3 == 0:
        print(i, f"{loss.item():.4f}")
print("mean", f"{sum(history) / len(history):.4f}")
