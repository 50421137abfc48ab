"""pytorch#128161: torch.full with a comparison of a symbolic size."""
import torch

f = lambda n: torch.full((1,), n >= 1024, dtype=torch.bool) + 1
args = [1024]
how = {"dynamic": True}
