# distillation: features by hooks, a temperature that falls each step, agreement of both models as a number, a check of the loss
import torch
import torch.nn as nn
import torch.nn.functional as F

from capture import Capture
from models import mlp

torch.manual_seed(0)
teacher, student = mlp(48, 3).eval(), mlp(16, 2)
caught_t, caught_s = Capture(teacher, ["4"]), Capture(student, ["2"])
align = nn.Linear(16, 48)
opt = torch.optim.Adam([*student.parameters(), *align.parameters()], lr=5e-3)
agreement = []


@torch.compile
def distill(x, y, temperature):
    with torch.no_grad():
        t = teacher(x)
    s = student(x)
    kd = F.kl_div((s / temperature).log_softmax(-1), (t / temperature).softmax(-1), reduction="batchmean") * temperature ** 2
    feat = F.mse_loss(align(caught_s.features["2"]), caught_t.features["4"])
    agree = (s.argmax(-1) == t.argmax(-1)).float().mean().item()
    agreement.append(agree)
    loss = F.cross_entropy(s, y) + kd + 0.1 * feat
    if loss.item() != loss.item():
        raise ValueError(f"loss is NaN at temperature {temperature}")
    return loss


for i in range(6):
    x, y = torch.randn(14, 10), torch.randint(0, 5, (14,))
    loss = distill(x, y, 4.0 * 0.8 ** i)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("%d loss %.4f agreement %.2f" % (i, loss.item(), agreement[-1]))
