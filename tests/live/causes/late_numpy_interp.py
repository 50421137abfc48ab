import numpy as np, torch

GRID = np.linspace(0, 1, 5)

@torch.compile(backend="aot_eager")
def model(x):
    y = x.numpy()
    z = np.interp(y, GRID, GRID ** 2)
    return torch.from_numpy(z) * 2

model(torch.rand(4, dtype=torch.float64))
