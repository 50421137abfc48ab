# a float that grows per step (curriculum), a string mode, the loss weight from a schedule object, verbose printing by f-string
import math

import torch
import torch.nn as nn


class Schedule:
    def __init__(self, total):
        self.total, self.step = total, 0

    def value(self):
        return 0.5 * (1 + math.cos(math.pi * self.step / self.total))


class VAE(nn.Module):
    def __init__(self, d=20, z=4):
        super().__init__()
        self.enc = nn.Linear(d, 2 * z)
        self.dec = nn.Linear(z, d)

    def forward(self, x, beta, mode="train"):
        mu, logvar = self.enc(x).chunk(2, -1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if mode == "train" else mu
        rec = self.dec(z)
        rl = (rec - x).square().mean()
        kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).mean()
        if mode == "train":
            print(f"rec {rl:.4f} kl {kl:.4f} beta {beta:.3f}")
        if kl < -1e-3:
            raise RuntimeError(f"negative KL: {kl.item()}")
        return rl + beta * kl


torch.manual_seed(0)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-2)
sched = Schedule(8)
f = torch.compile(vae)
for i in range(6):
    loss = f(torch.randn(16, 20), 1 - sched.value())
    loss.backward()
    opt.step()
    opt.zero_grad()
    sched.step += 1
with torch.no_grad():
    print("eval %.4f" % f(torch.randn(16, 20), 1.0, mode="eval").item())
