import torch

@torch.compile(backend="aot_eager")
def model(x):
    return (x * x).sum()

x = torch.ones(3, requires_grad=True)
loss = model(x)
loss.backward()
loss.backward()
