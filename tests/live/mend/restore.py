# an image restorer for any size: inputs are padded to a multiple of 8, tiles of large ones are done in a loop, PSNR in Python, a warning once
import math
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F


class Restorer(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.inp, self.down = nn.Conv2d(1, c, 3, padding=1), nn.Conv2d(c, c, 2, 2)
        self.up, self.out = nn.ConvTranspose2d(c, c, 2, 2), nn.Conv2d(c, 1, 3, padding=1)
        self.warned = False

    def forward(self, x, reference=None):
        h, w = x.shape[-2:]
        ph, pw = (8 - h % 8) % 8, (8 - w % 8) % 8
        if (ph or pw) and not self.warned:
            warnings.warn(f"{h}x{w} is padded to a multiple of 8")
            self.warned = True
        y = F.pad(x, (0, pw, 0, ph), mode="replicate")
        y = F.relu(self.inp(y))
        y = y + self.up(F.relu(self.down(y)))
        y = (x + self.out(y)[..., :h, :w]).clamp(0, 1)
        if reference is not None:
            mse = F.mse_loss(y, reference).item()
            print("PSNR %.2f" % (10 * math.log10(1 / mse) if mse > 0 else float("inf")))
        return y


torch.manual_seed(0)
net = Restorer().eval()
restore = torch.compile(net)
with torch.no_grad():
    for h, w in ((16, 16), (16, 24), (13, 18), (30, 17), (24, 40)):
        clean = torch.rand(1, 1, h, w)
        out = restore((clean + 0.1 * torch.randn_like(clean)).clamp(0, 1), clean)
        print(h, w, "%.4f" % out.mean().item())
