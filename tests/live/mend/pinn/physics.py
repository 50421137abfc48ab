import torch


def residual(u, x):
    """u'' + u = 0"""
    du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    d2u = torch.autograd.grad(du.sum(), x, create_graph=True)[0]
    return d2u + u


class Weights:
    """Each loss is weighted by the inverse of its running mean."""

    def __init__(self, names):
        self.mean = {n: 1.0 for n in names}

    def __call__(self, losses):
        total = 0.0
        for name, loss in losses.items():
            self.mean[name] = 0.8 * self.mean[name] + 0.2 * loss.item()
            total = total + loss / (self.mean[name] + 1e-8)
        return total
