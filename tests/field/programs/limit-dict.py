# sample.py | 213
import torch

@torch.compile(backend="eager")
def denoise(x, cond):
    return x * cond["scale"] if cond["name"] else x

for i in range(12):
    denoise(torch.ones(4), {"name": f"prompt {i}", "scale": 2})
print("12 samples")
