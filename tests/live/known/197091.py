"""pytorch#197091: the dtype of ldexp."""
import torch

f = lambda x, y: torch.ldexp(x, y)
args = [torch.ones(3, dtype=torch.bool), torch.ones(3).half()]
