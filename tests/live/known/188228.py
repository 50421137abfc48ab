"""pytorch#188228: outer loop fusion asks for a buffer that is gone."""
import torch

drop = torch.nn.FeatureAlphaDropout(p=0.14).eval()


@torch.no_grad()
def f(x):
    a = torch.arctanh_(x)
    b = torch.nn.functional.gumbel_softmax(a, 0.007)
    return torch.addcdiv(drop(b), x, b)


how = {}


def main():
    torch.compile(f)(torch.rand(3, 16))
