import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
model = torch.compile(net, backend="aot_eager")
x = torch.ones(2, 4)
model(x).sum().backward()
for p in net[0].parameters():
    p.requires_grad_(False)
model(x).sum().backward()
for p in net[1].parameters():
    p.requires_grad_(False)
model(x)
