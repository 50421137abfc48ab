# mixture of experts with a Python loop over the experts that got tokens; load counted in a list; a debug flag
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, d=12, experts=3):
        super().__init__()
        self.gate = nn.Linear(d, experts)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d)) for _ in range(experts)])
        self.load = [0] * experts

    def forward(self, x):
        p = self.gate(x).softmax(-1)
        w, which = p.max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            mask = which == i
            if mask.any():
                self.load[i] += mask.sum().item()
                out = out + expert(x) * (mask * w)[..., None]
        return x + out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(6, 12)
        self.moe = MoE()
        self.out = nn.Linear(12, 2)

    def forward(self, x, y):
        h = self.moe(torch.relu(self.inp(x)))
        loss = F.cross_entropy(self.out(h), y)
        if loss > 10:
            print("loss is large:", loss.item())
        return loss


torch.manual_seed(3)
net = Net()
step = torch.compile(net)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for i in range(6):
    loss = step(torch.randn(20, 6), torch.randint(0, 2, (20,)))
    loss.backward()
    opt.step()
    opt.zero_grad()
    if i % 2:
        print(i, "%.4f" % loss.item())
print(sum(net.moe.load))
