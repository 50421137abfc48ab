"""The model lies in a file of its own, which imports a package beside it; an argument says how large it is."""
import torch

from parts import model

net = torch.compile(model.Net(8), fullgraph=True)
net(torch.randn(2, 8))
