"""pytorch#188224: cummin of an empty tensor."""
import torch

f = lambda: torch.cummin(torch.clone(torch.bartlett_window(0, periodic=False)), -1)[0]
args = []
