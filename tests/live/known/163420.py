"""pytorch#163420: fill_diagonal_ with a number of another tensor."""
import torch
import torch._dynamo.config

torch._dynamo.config.capture_scalar_outputs = True


def f(a, b):
    c = a.clone()
    c.fill_diagonal_(b.item())
    return c


args = [torch.ones(3, 3), torch.tensor(2.0)]
