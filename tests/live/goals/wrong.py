"""A program whose check fails because of broken.py: for `fxexplain mend --wrong` (mend-goals.t)."""
import broken  # noqa: F401
import torch


@torch.compile
def f(x, w):
    y = torch.relu(x @ w)
    return torch.tanh(y).sum(1)


torch.manual_seed(0)
x, w = torch.randn(8, 16), torch.randn(16, 4)
torch.testing.assert_close(f(x, w), torch.tanh(torch.relu(x @ w)).sum(1))
print("checked")
