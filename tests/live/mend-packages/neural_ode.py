"""torchdiffeq: a neural ODE fitted to a spiral."""
# pip: torchdiffeq==0.2.5; scipy
import torch
from torch import nn
from torchdiffeq import odeint

torch.manual_seed(0)
field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
times = torch.linspace(0.0, 1.0, 5)
target = torch.stack([torch.cos(3 * times), torch.sin(3 * times)], 1).unsqueeze(1)
solve = torch.compile(lambda y: odeint(lambda t, y: field(y), y, times, method="dopri5", rtol=1e-3, atol=1e-4))
for step in range(6):
    loss = (solve(torch.tensor([[1.0, 0.0]])) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
