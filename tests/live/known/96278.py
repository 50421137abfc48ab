"""pytorch#96278: torch.tensor of a list that holds a size."""
import torch

f = lambda x: x + torch.tensor([x.shape[0], 2])
args = [torch.ones(2)]
how = {"backend": "eager", "dynamic": True, "fullgraph": True}
