import torch

def keep(module, grad_in, grad_out):
    return None

net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(inplace=True))
net[0].register_full_backward_hook(keep)
model = torch.compile(net, backend="aot_eager")
model(torch.ones(2, 4, requires_grad=True)).sum().backward()
