"""ema_pytorch: an average of a model's weights, kept inside of the compiled step and asked every fourth one."""
# pip: ema-pytorch==0.8.3
import torch
from ema_pytorch import EMA
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
ema = EMA(net, beta=0.9, update_after_step=2, update_every=2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


@torch.compile
def train(x, y):
    loss = (net(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    ema.update()
    return loss.detach()


for step in range(8):
    x = torch.randn(16, 8)
    loss = train(x, x.sum(1, keepdim=True))
    print("step %d: loss %.4f" % (step, loss.item()))
    if step % 4 == 3:
        print("average %.4f" % ema(x).mean().item())
