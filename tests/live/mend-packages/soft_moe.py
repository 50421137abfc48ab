"""soft_moe_pytorch: a soft mixture of experts, trained."""
# pip: soft-moe-pytorch==0.1.9; einops==0.8.2
import torch
from soft_moe_pytorch import DynamicSlotsSoftMoE, SoftMoE

torch.manual_seed(0)
fixed, dynamic = SoftMoE(dim=16, seq_len=12, num_experts=3), DynamicSlotsSoftMoE(dim=16, num_experts=3)


@torch.compile
def forward(x):
    return fixed(x) + dynamic(x)


optimizer = torch.optim.Adam([*fixed.parameters(), *dynamic.parameters()], lr=1e-3)
for step in range(8):
    x = torch.randn(2, 12, 16)
    loss = (forward(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
