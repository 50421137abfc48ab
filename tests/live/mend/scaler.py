# loss scaling by hand in the compiled step: the scale halves on overflow, skipped steps are counted, gradients are accumulated over two batches
import torch
import torch.nn as nn
import torch.nn.functional as F


class Scaler:
    def __init__(self):
        self.scale, self.good, self.skipped = 1024.0, 0, 0

    def update(self, overflow):
        if overflow:
            self.scale /= 2
            self.good = 0
            self.skipped += 1
        else:
            self.good += 1
            if self.good % 3 == 0:
                self.scale *= 2


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.GELU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = Scaler()


@torch.compile
def forward_loss(x, y, scale):
    out = model(x)
    if not torch.isfinite(out).all():
        print("non-finite activations, scale", scale)
    return F.cross_entropy(out, y) * scale / 2


total, n = 0.0, 0
for i in range(8):
    x, y = torch.randn(7, 6), torch.randint(0, 3, (7,))
    if i == 5:
        x[0, 0] = float("inf")
    loss = forward_loss(x, y, scaler.scale)
    loss.backward()
    if i % 2:
        overflow = any(not torch.isfinite(p.grad).all() for p in model.parameters())
        if not overflow:
            for p in model.parameters():
                p.grad /= scaler.scale
            opt.step()
        scaler.update(overflow)
        opt.zero_grad(set_to_none=True)
        print(i, "scale", scaler.scale, "skipped", scaler.skipped)
    if torch.isfinite(loss):
        total += loss.item() * 2 / scaler.scale
        n += 1
print("%d losses, mean %.3f" % (n, total / n))
