# big.py | 213
import torch

def outer(x):
    return (x[:, None] * x[None, :]).exp().sum()

print(torch.compile(outer, backend="aot_eager")(torch.ones(1 << 22)))
