# app.py | 213 | PATH=.;CXX=
import torch

@torch.compile
def f(x):
    return x.sin() + x.cos()

print(f(torch.randn(64)))
