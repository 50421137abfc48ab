import torch

FIX = r"torch\.nn\.functional\.pad\(x, \(0, n"

def before(a, b):
    return torch.cat([a, b], dim=0)

def after(a, b):
    n = max(a.shape[-1], b.shape[-1])
    return torch.cat([torch.nn.functional.pad(x, (0, n - x.shape[-1])) for x in (a, b)], dim=0)

EAGER = after

def calls():
    yield torch.ones(2, 3), torch.ones(2, 4)
