import torch

@torch.compile(backend="aot_eager")
def chunks(x):
    for i in range(2):
        yield x[i] * 2

list(chunks(torch.ones(2, 3)))
