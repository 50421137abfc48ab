import numpy as np
import torch

@torch.compile(backend="aot_eager")
def augment(x):
    noise = torch.from_numpy(np.random.default_rng(0).normal(size=4)).float()
    return x + noise

augment(torch.ones(4))
