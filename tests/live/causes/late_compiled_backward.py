import torch

norms = []

def watch(grad):
    norms.append(grad.norm().item())

@torch.compile(backend="aot_eager")
def model(x):
    return (x.sin() * 2).sum()

x = torch.ones(3, requires_grad=True)
x.register_hook(watch)
torch._dynamo.config.compiled_autograd = True
loss = model(x)
torch.compile(lambda: loss.backward(), backend="aot_eager")()
