"""pytorch#101695: clamp to inf after a transposed convolution."""
import torch

conv = torch.nn.ConvTranspose2d(3, 8, 3, stride=1, padding=1).eval()


@torch.no_grad()
def f(x):
    return torch.clamp(torch.clamp(conv(x), -0.5, float("inf")), float("-inf"), 0.5)


args = [torch.randn(1, 3, 16, 16)]
