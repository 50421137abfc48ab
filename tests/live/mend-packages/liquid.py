"""ncps: a liquid time-constant network on a sequence, with its state carried on."""
# pip: ncps==1.0.1; packaging
import torch
from ncps.torch import CfC
from ncps.wirings import AutoNCP
from torch import nn

torch.manual_seed(0)
net = CfC(4, AutoNCP(12, 2))
run = torch.compile(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
state = None
for step in range(8):
    x = torch.randn(3, 6, 4)
    out, state = run(x, state)
    loss = nn.functional.mse_loss(out, x[..., :2].cumsum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = state.detach()
    print("step %d: loss %.4f" % (step, loss.item()))
