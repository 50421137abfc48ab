"""pytorch#151523: hardshrink before mv."""
import torch
import torch.nn.functional as F

conv = torch.nn.Conv2d(3, 4, (1, 3))


@torch.no_grad()
def f(x, w):
    y = F.hardshrink(conv(x), lambd=0)
    return torch.mv(w, y.view(y.size(0), -1)[0])


args = [torch.randn(2, 3, 16, 18), torch.randn(10, 4 * 16 * 16)]
