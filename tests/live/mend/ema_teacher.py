# a student and its EMA teacher; the decay depends on a Python step counter; debug print of the distance; warnings.warn on divergence
import warnings

import torch
import torch.nn as nn


class Distill(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.student = nn.Sequential(nn.Linear(d, 20), nn.GELU(), nn.Linear(20, 4))
        self.teacher = nn.Sequential(nn.Linear(d, 20), nn.GELU(), nn.Linear(20, 4))
        self.teacher.load_state_dict(self.student.state_dict())
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.step = 0
        self.verbose = True

    def forward(self, x, noise):
        with torch.no_grad():
            target = self.teacher(x).softmax(-1)
        out = self.student(x + noise)
        loss = -(target * out.log_softmax(-1)).sum(-1).mean()
        if loss.item() > 50:
            warnings.warn("the student diverges")
        self.step += 1
        if self.verbose:
            print("distance %.5f" % (target - out.softmax(-1)).abs().mean().item())
        return loss

    @torch.no_grad()
    def update(self):
        decay = min(0.99, (1 + self.step) / (10 + self.step))
        for t, s in zip(self.teacher.parameters(), self.student.parameters()):
            t.lerp_(s, 1 - decay)


torch.manual_seed(5)
model = Distill()
compiled = torch.compile(model)
opt = torch.optim.SGD(model.student.parameters(), lr=0.2)
for i in range(6):
    x = torch.randn(10, 12)
    loss = compiled(x, 0.1 * torch.randn(10, 12))
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.update()
print("final %.4f" % loss.item())
