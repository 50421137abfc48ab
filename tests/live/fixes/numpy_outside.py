import numpy as np
import torch

FIX = r"call it before or after the compiled function"
GRID = np.linspace(0, 1, 5)

def interp(x):
    return torch.from_numpy(np.interp(x.numpy(), GRID, GRID**2))

def inside(x):
    return interp(x) * 2

def double(x):
    return x * 2

class Step:
    def __call__(self, x):
        return self.f(interp(x) if AFTER else x)

def make():
    return Step()

def wrap(step, compile):
    step.f = compile(double if AFTER else inside)
    return step

def calls():
    yield torch.rand(4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)),
