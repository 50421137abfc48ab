import torch

STEP = 0

@torch.compile(backend="aot_eager")
def model(x):
    return x * STEP

for STEP in (1, 2, 3):
    model(torch.ones(3))
