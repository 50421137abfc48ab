"""pytorch#188217: FractionalMaxPool2d and LocalResponseNorm."""
import torch

norm = torch.nn.LocalResponseNorm(2, alpha=0.03).eval()


@torch.no_grad()
def f(x):
    y = torch.nn.functional.fractional_max_pool2d(x, 2, output_size=(2, 2), _random_samples=torch.full((1, 3, 2), 0.5, dtype=x.dtype))
    return torch.nn.functional.logsigmoid(norm(y))


args = [torch.rand(1, 3, 32, 32, dtype=torch.float64)]
