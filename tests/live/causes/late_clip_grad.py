import torch

net = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

@torch.compile(backend="aot_eager")
def update(limit):
    torch.nn.utils.clip_grad_norm_(net.parameters(), limit, error_if_nonfinite=True)

net(torch.ones(2, 4)).sum().backward()
update(1.0)
opt.step()
