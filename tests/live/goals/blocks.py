"""Equal blocks, compiled as one graph: for `fxexplain mend --slow` (mend-goals.t)."""
import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(32) for _ in range(16))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


model = Model().eval()
fast = torch.compile(model)
with torch.no_grad():
    for step in range(60):
        y = fast(torch.randn(4, 32))
print("%.5f" % y.mean().item())
