"""A model of eight equal blocks, compiled whole: the kernels of one block are made eight times. For `fxexplain mend --slow` (mend-goals.t)."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.wide, self.out = nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.out(torch.tanh(self.wide(self.norm(x))) * x.mean())


class Model(nn.Module):
    def __init__(self, dim=24, depth=8):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, 5)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(0)
model = Model().eval()
fast = torch.compile(model)
with torch.no_grad():
    for step in range(60):
        y = fast(torch.randn(16, 24))
print("%.5f" % y.sum().item())
