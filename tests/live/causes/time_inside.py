import time, torch

@torch.compile(backend="aot_eager")
def model(x):
    t = time.time()
    y = x + 1
    return y * 2, t

model(torch.ones(3))
