import sys, torch

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    print("mean", y.shape, file=sys.stderr)
    z = y * 2
    print("plain")
    return z + 1

model(torch.ones(3))
