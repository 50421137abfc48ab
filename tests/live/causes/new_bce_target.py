import torch

net = torch.nn.Linear(8, 1)

@torch.compile(backend="aot_eager")
def loss(x, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(net(x), y)

loss(torch.ones(4, 8), torch.ones(4))
