"""torchsde: a neural SDE, fitted to a mean."""
# pip: torchsde==0.2.6; trampoline scipy
import torch
import torchsde
from torch import nn

torch.manual_seed(0)


class Field(nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.1 * torch.ones_like(y)


field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
times = torch.linspace(0, 1, 4)
solve = torch.compile(lambda y: torchsde.sdeint(field, y, times, dt=0.1, method="euler"))
for step in range(5):
    noise = torch.manual_seed(step)
    loss = (solve(torch.zeros(8, 3))[-1] - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
