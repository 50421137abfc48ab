# train.py | 211
import random
import torch

def step(x):
    if random.random() < torch.rand(1):
        return x + 1
    return x

torch.compile(step, backend="eager", fullgraph=True)(torch.ones(2))
