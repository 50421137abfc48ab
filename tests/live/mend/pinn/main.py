# a physics-informed network: derivatives by autograd inside, losses weighted by running means as floats, the step's time on standard error
import sys
import time

import torch
import torch.nn as nn

from physics import Weights, residual

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
weights = Weights(["equation", "boundary"])


@torch.compile
def objective(x, x0, u0):
    t = time.time()
    losses = {"equation": residual(net(x), x).square().mean(), "boundary": (net(x0) - u0).square().mean()}
    total = weights(losses)
    if losses["equation"] > 100:
        print("stiff residual")
    print("%.3f s" % (time.time() - t), file=sys.stderr)
    return total


for i in range(5):
    x = torch.rand(20, 1, requires_grad=True)
    loss = objective(x, torch.zeros(1, 1), torch.ones(1, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.4f" % loss.item(), {k: round(v, 4) for k, v in weights.mean.items()})
