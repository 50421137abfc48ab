"""pytorch#157959: division by a constant becomes a multiplication."""
import torch

f = lambda x: torch.floor(x / 0.1)
args = [torch.arange(1, 1000) * 0.1]
