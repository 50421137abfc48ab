import torch

SEEN = []

@torch.compile(backend="aot_eager")
def model(x):
    SEEN.append(1)
    return x * len(SEEN)

for i in range(4):
    model(torch.ones(3))
