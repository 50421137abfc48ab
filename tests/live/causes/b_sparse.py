import torch

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    return y.to_sparse().to_dense()

model(torch.eye(3))
