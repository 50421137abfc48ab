import torch
from tqdm import tqdm

@torch.compile(backend="aot_eager")
def solve(x):
    for i in tqdm(range(3)):
        x = x - 0.1 * x.cos()
    return x

solve(torch.ones(3))
