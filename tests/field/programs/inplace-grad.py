# train.py | 213
import torch

w = torch.randn(4, requires_grad=True)

def f(x):
    y = (x * w).exp()
    return y

out = torch.compile(f, backend="aot_eager")(torch.ones(4))
out.add_(1)
out.sum().backward()
