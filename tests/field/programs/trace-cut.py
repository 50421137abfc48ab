# train.py | 213 | TRACE=cut
import torch

def f(x):
    for i in range(40):
        x = torch.relu(x + i).cumsum(0)
    return x

torch.compile(f)(torch.randn(16))
