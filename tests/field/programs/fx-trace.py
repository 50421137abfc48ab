# quant.py | 213
import torch

@torch.compile(backend="eager")
def act(x):
    return x.relu()

class M(torch.nn.Module):
    def forward(self, x):
        return act(x) + 1

M()(torch.ones(2))
torch.fx.symbolic_trace(M())(torch.ones(2))
