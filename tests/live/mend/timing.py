# timers around the parts of the forward pass, kept in a dict; a log line when a part is slow; variable number of points
import logging
import sys
import time

import torch
import torch.nn as nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger(__name__)


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 32))
        self.glob = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 5))
        self.times = {"local": 0.0, "global": 0.0}

    def forward(self, pts):
        start = time.perf_counter()
        feat = self.local(pts)
        self.times["local"] += time.perf_counter() - start
        start = time.perf_counter()
        out = self.glob(feat.max(1).values)
        self.times["global"] += time.perf_counter() - start
        if out.abs().max() > 1000:
            log.warning("large output: %s", out.abs().max().item())
        return out


torch.manual_seed(2)
net = PointNet()
fast = torch.compile(net)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step, n in enumerate([40, 40, 56, 32, 64, 48]):
    pts = torch.randn(4, n, 3)
    loss = fast(pts).logsumexp(-1).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    log.info("step %d loss %.4f", step, loss.item())
assert set(net.times) == {"local", "global"}
