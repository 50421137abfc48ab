import torch

torch._dynamo.config.suppress_errors = True

def backend(gm, inputs):
    raise ValueError("my backend is unfinished")

@torch.compile(backend=backend)
def model(x):
    return x + 1

model(torch.ones(3))
