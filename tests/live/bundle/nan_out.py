"""A logarithm of what is not positive, seen where the loss is looked at."""
import torch

torch.manual_seed(0)


@torch.compile
def loss(x):
    return torch.log(torch.relu(x) - 1.0).sum()


value = loss(torch.randn(8, 16))
if torch.isnan(value):
    raise FloatingPointError("the loss is NaN")
