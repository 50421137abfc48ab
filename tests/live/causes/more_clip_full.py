import torch

net = torch.nn.Linear(4, 4)

@torch.compile(backend="aot_eager", fullgraph=True)
def update(limit):
    return torch.nn.utils.clip_grad_norm_(list(net.parameters()), limit, error_if_nonfinite=True)

net(torch.ones(2, 4)).sum().backward()
update(1.0)
