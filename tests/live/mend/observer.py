# quantization-aware training: observers keep the range as Python floats, a scale of zero is replaced, a note when the range grows
import torch
import torch.nn as nn
import torch.nn.functional as F


class Observer(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name, self.lo, self.hi, self.n = name, float("inf"), float("-inf"), 0

    def forward(self, x):
        if self.training:
            lo, hi = x.min().item(), x.max().item()
            if hi > self.hi and self.n > 0:
                print(f"{self.name}: range grows to {hi:.3f}")
            self.lo, self.hi = min(self.lo, lo), max(self.hi, hi)
            self.n += 1
        scale = (self.hi - self.lo) / 255
        if scale == 0:
            scale = 1.0
        q = torch.round((x - self.lo) / scale).clamp(0, 255) * scale + self.lo
        return x + (q - x).detach()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.mid = Observer("input"), Observer("hidden")
        self.fc1, self.fc2 = nn.Linear(12, 24), nn.Linear(24, 4)

    def forward(self, x):
        return self.fc2(self.mid(F.relu(self.fc1(self.inp(x)))))


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
qat = torch.compile(net)
for i in range(5):
    loss = F.cross_entropy(qat(torch.randn(8, 12)), torch.randint(0, 4, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, f"{loss.item():.4f}")
net.eval()
with torch.no_grad():
    print(f"{qat(torch.ones(2, 12)).sum().item():.4f} {net.inp.lo:.3f} {net.mid.hi:.3f}")
