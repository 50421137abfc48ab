import torch

def model(x, w):
    x = x * 2
    return x @ w

torch.compile(model, backend="aot_eager")(torch.ones(3, 3), torch.ones(3, 3, dtype=torch.float64))
