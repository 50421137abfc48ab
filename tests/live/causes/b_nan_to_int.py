import torch

@torch.compile(backend="aot_eager", fullgraph=True, dynamic=True)
def model(x, n):
    y = x[:n]
    if n > 3:
        return y * 2
    return y

for n in (2, 3, 5):
    model(torch.ones(8), n)
