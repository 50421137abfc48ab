# train.py | 213
import torch
from torch.utils.checkpoint import checkpoint

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 8)
        self.b = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.b(torch.nn.functional.gelu(self.a(x)) * x.shape[0])

block = Block()
fast = torch.compile(block, backend="aot_eager")
x = torch.randn(4, 8, requires_grad=True)
y = checkpoint(fast, x, use_reentrant=False)
z = checkpoint(fast, torch.randn(6, 8, requires_grad=True), use_reentrant=False)
w = checkpoint(fast, torch.randn(7, 8, requires_grad=True), use_reentrant=False)
(y.sum() + z.sum() + w.sum()).backward()
