# loop.py | 213 | TORCH_LOGS=recompiles
import torch

class Counter:
    def __init__(self):
        self.calls = 0

ctr = Counter()

@torch.compile(backend="eager")
def step(x):
    ctr.calls += 1
    return x * ctr.calls

for i in range(10):
    step(torch.ones(4))
