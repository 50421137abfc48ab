# contrastive learning: shapes and norms are asserted, the temperature is a parameter that is clamped in place, debug logging with f-strings
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(name)s %(levelname)s %(message)s")
log = logging.getLogger("simclr")


class SimCLR(nn.Module):
    def __init__(self, d=16, p=8):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(d, 32), nn.BatchNorm1d(32), nn.ReLU())
        self.proj = nn.Linear(32, p)
        self.temp = nn.Parameter(torch.tensor(0.5))
        self.queue = []

    def forward(self, a, b):
        assert a.shape == b.shape, f"views differ: {a.shape} {b.shape}"
        self.temp.data.clamp_(0.05, 1.0)
        za = F.normalize(self.proj(self.backbone(a)), dim=-1)
        zb = F.normalize(self.proj(self.backbone(b)), dim=-1)
        assert torch.allclose(za.norm(dim=-1), torch.ones(len(za)), atol=1e-4)
        self.queue.append(zb.detach().mean(0))
        if len(self.queue) > 4:
            self.queue.pop(0)
        logits = za @ zb.t() / self.temp
        labels = torch.arange(len(za))
        top1 = (logits.argmax(1) == labels).float().mean()
        log.info(f"top1 {top1.item():.3f} temperature {self.temp.item():.3f} center {torch.stack(self.queue).mean().item():.4f}")
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


torch.manual_seed(0)
model = SimCLR()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
compiled = torch.compile(model)
for i in range(6):
    x = torch.randn(10, 16)
    loss = compiled(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.4f" % loss.item())
