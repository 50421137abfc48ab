# graphs of several sizes: nodes and edges vary, a check of the indices in the layer, calls counted in a module's dict
import torch
import torch.nn as nn

import layers
from layers import Conv


class GNN(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.convs = nn.ModuleList([Conv(d), Conv(d)])
        self.out = nn.Linear(d, 1)

    def forward(self, x, edges):
        for c in self.convs:
            x = c(x, edges)
        return self.out(x).mean()


torch.manual_seed(0)
net = GNN()
fast = torch.compile(net)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for nodes, n in ((6, 10), (8, 15), (6, 12), (9, 20), (7, 11)):
    edges = torch.randint(0, nodes, (2, n))
    loss = fast(torch.randn(nodes, 8), edges).square()
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(nodes, n, "%.5f" % loss.item())
print(layers.DEBUG)
