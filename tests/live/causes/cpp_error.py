import torch
from torch._inductor.codegen import cpp

cpp.CppVecOverrides.sin = staticmethod(lambda x: f"nosuchfunction({x})")
cpp.CppOverrides.sin = staticmethod(lambda x: f"nosuchfunction({x})")

def model(x):
    y = x + 1
    return torch.sin(y) * 3

torch.compile(model)(torch.ones(64))
