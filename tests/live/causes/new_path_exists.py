import os, torch

@torch.compile(backend="aot_eager")
def f(x):
    y = x.sin()
    if os.path.exists("/etc/passwd"):
        y = y + 1
    return y

f(torch.ones(3))
