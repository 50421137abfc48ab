# a VAE whose KL weight is annealed by the module itself, a warning on collapse, and running averages kept as Python floats
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d=20, h=32, z=4, warmup=6):
        super().__init__()
        self.enc = nn.Linear(d, h)
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d))
        self.warmup, self.it = warmup, 0
        self.avg_rec, self.avg_kl = 0.0, 0.0

    @property
    def beta(self):
        return min(1.0, self.it / self.warmup)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar) if self.training else mu
        rec = F.mse_loss(self.dec(z), x)
        kl = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
        if self.training:
            self.it += 1
        self.avg_rec = 0.9 * self.avg_rec + 0.1 * rec.item()
        self.avg_kl = 0.9 * self.avg_kl + 0.1 * kl.item()
        if kl.item() < 1e-5:
            warnings.warn("posterior collapse")
        return rec + self.beta * kl, rec, kl


torch.manual_seed(0)
model = VAE()
vae = torch.compile(model)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
data = torch.randn(70, 20)
for epoch in range(2):
    model.train()
    for batch in data.split(16):
        loss, rec, kl = vae(batch)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val = vae(data[:16])[0]
    print(f"epoch {epoch}: beta {model.beta:.2f} rec {model.avg_rec:.4f} kl {model.avg_kl:.5f} val {val.item():.4f}")
