import torch

@torch.compile(backend="aot_eager")
def model(x, lengths):
    out = x
    for i in range(lengths.max().item()):
        out = out + i
    return out

model(torch.ones(3), torch.tensor([2, 3]))
