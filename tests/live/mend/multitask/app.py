# several heads in a package; each reports its loss as a float; task weights change by step as a Python dict
import torch
import torch.nn as nn

from heads import Head, Report

report = Report()


class Multi(nn.Module):
    def __init__(self, tasks, d=14):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d, d), nn.Tanh())
        self.heads = nn.ModuleDict({t: Head(t, d, 2, report) for t in tasks})

    def forward(self, x, targets, weights):
        h = self.trunk(x)
        total = 0.0
        for t, head in self.heads.items():
            total = total + weights[t] * head(h, targets[t])
        if total.isnan():
            raise FloatingPointError("NaN")
        return total


torch.manual_seed(2)
net = Multi(["depth", "normal"])
fast = torch.compile(net)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(5):
    x = torch.randn(8, 14)
    targets = {t: torch.randn(8, 2) for t in net.heads}
    loss = fast(x, targets, {"depth": 1.0, "normal": 0.1 * (i + 1)})
    loss.backward()
    opt.step()
    opt.zero_grad()
print(report.lines[-2:], len(report.lines), "%.4f" % loss.item())
