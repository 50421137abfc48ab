"""st_moe_pytorch: a mixture of experts, trained."""
# pip: st-moe-pytorch==0.1.8; beartype colt5-attention==0.11.2 einops==0.8.2 local-attention==1.11.2 hyper-connections==0.4.11 packaging torch-einops-utils==0.2.0
import torch
from st_moe_pytorch import MoE

torch.manual_seed(0)
moe = MoE(dim=16, num_experts=4, gating_top_n=2, threshold_train=0.2, threshold_eval=0.2)
forward = torch.compile(moe)
optimizer = torch.optim.Adam(moe.parameters(), lr=1e-3)
for step in range(8):
    x = torch.randn(2, 24, 16)
    out, aux, *_ = forward(x)
    loss = (out - x).square().mean() + aux
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
