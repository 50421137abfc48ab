"""pytorch#197895: 1.0 // 0.1 is 10."""
import torch

f = lambda a, b: a // b
args = [torch.tensor([1.0, 0.5, 6.0, 1.0]), torch.tensor([0.1, 0.1, 0.2, 1 / 3])]
