"""Each size changes at another call, and each change compiles again: for `fxexplain mend --slow` (mend-goals.t)."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24))


def score(x, mask):
    y = net(x) * mask.unsqueeze(-1)
    return torch.softmax(y.sum(1), -1).mean(0)


fast = torch.compile(score)
with torch.no_grad():
    for step in range(60):
        batch, length = 4 + step // 12, 8 + step // 6
        y = fast(torch.randn(batch, length, 24), torch.ones(batch, length))
print("%.5f" % y.sum().item())
