# gan.py | 213
import torch

net = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()), backend="aot_eager")
x = torch.randn(2, 4, requires_grad=True)
(g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
penalty = g.pow(2).sum()
penalty.backward()
