import torch

net = torch.nn.Linear(1, 1)

@torch.compile(backend="aot_eager")
def residual(x):
    u = net(x)
    du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    return (du ** 2).mean()

residual(torch.ones(4, 1, requires_grad=True)).backward()
