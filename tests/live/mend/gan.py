# two networks and their compiled losses: label smoothing by Python's random, the discriminator rests while it is too good, scores for the log
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)
G = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
scores = {"real": [], "fake": []}


@torch.compile
def d_loss(real, fake):
    pr, pf = D(real), D(fake)
    smooth = 0.9 + 0.1 * random.random()
    loss = F.binary_cross_entropy_with_logits(pr, torch.full_like(pr, smooth)) + F.binary_cross_entropy_with_logits(pf, torch.zeros_like(pf))
    scores["real"].append(torch.sigmoid(pr).mean().item())
    scores["fake"].append(torch.sigmoid(pf).mean().item())
    return loss


@torch.compile
def g_loss(fake):
    out = F.binary_cross_entropy_with_logits(D(fake), torch.ones(len(fake), 1))
    if torch.isnan(out):
        raise RuntimeError("generator diverged")
    return out


for it in range(6):
    real = torch.randn(16, 2) * 0.5 + 2
    z = torch.randn(16, 4)
    fake = G(z)
    ld = d_loss(real, fake.detach())
    if ld.item() > 0.3:
        opt_d.zero_grad()
        ld.backward()
        opt_d.step()
    lg = g_loss(fake)
    opt_g.zero_grad()
    lg.backward()
    opt_g.step()
    print(f"[{it}] D {ld.item():.4f} G {lg.item():.4f} real {scores['real'][-1]:.3f} fake {scores['fake'][-1]:.3f}")
