import torch

def my_backend(gm, inputs):
    raise ValueError("my backend is unfinished")

@torch.compile(backend=my_backend)
def model(x):
    return x + 1

model(torch.ones(3))
