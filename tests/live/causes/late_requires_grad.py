import torch

def energy(pos):
    pos = pos * 1.0
    pos.requires_grad_()
    return (pos ** 2).sum()

torch.compile(energy, backend="aot_eager")(torch.ones(3))
