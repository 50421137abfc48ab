"""pytorch#144188: torch.fill with a tensor as value."""
import torch

f = lambda x, v: torch.fill(x, v)
args = [torch.zeros(3), torch.tensor(2)]
