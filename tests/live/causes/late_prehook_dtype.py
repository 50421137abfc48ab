import torch

def to_half(module, args):
    return tuple(a.half() for a in args)

net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
net[0].register_forward_pre_hook(to_half)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x).sum()

torch.compile(Model(), backend="aot_eager")(torch.ones(2, 8))
