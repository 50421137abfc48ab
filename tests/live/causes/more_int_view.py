import torch

@torch.compile(backend="aot_eager")
def f(x, heads):
    out = []
    for h in range(heads):
        out.append(x * h)
    return torch.stack(out)

for h in (2, 3, 4, 5):
    f(torch.ones(4), h)
