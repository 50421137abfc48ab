import torch

def clip(grad):
    return grad[:1]

@torch.compile(backend="aot_eager")
def model(x):
    return (x * 2).sin()

x = torch.ones(4, requires_grad=True)
y = model(x)
y.register_hook(clip)
y.sum().backward()
