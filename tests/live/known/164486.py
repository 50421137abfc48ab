"""pytorch#164486: a 0-dimensional int16 input in a division, with a gradient."""
import torch
import torch._dynamo.config

torch._dynamo.config.capture_scalar_outputs = True


def main():
    def f(x, s):
        a = torch.add(torch.full((), 1, dtype=torch.int16), x)
        return torch.div(a, torch.squeeze(torch.full((1,), 3, dtype=torch.int16))) * s

    x, s = torch.tensor(2, dtype=torch.int16), torch.tensor(1.0, requires_grad=True)
    torch.compile(f, fullgraph=True, dynamic=True)(x, s).sum().backward()
