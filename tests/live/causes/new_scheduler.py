import torch

net = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
plan = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)

@torch.compile(backend="aot_eager")
def step(x):
    net(x).sum().backward()
    opt.step()

for i in range(4):
    step(torch.ones(2, 4))
    opt.zero_grad()
    plan.step()
