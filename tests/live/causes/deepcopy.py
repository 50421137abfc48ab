import copy, torch

@torch.compile(backend="aot_eager")
def model(x):
    y = x * 2
    z = copy.deepcopy(y)
    return z + 1

model(torch.ones(3))
