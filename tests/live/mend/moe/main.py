# a mixture of experts: tokens are gathered by expert, empty experts are skipped, the load is counted and printed with a ratio
import torch
import torch.nn as nn
import torch.nn.functional as F

from router import MoE


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(MoE() for _ in range(2))
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


torch.manual_seed(0)
model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
fast = torch.compile(model)
for i in range(5):
    loss = F.cross_entropy(fast(torch.randn(24, 16)), torch.randint(0, 4, (24,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    load = model.layers[0].load
    print(i, "%.4f" % loss.item(), "imbalance %.2f" % (max(load) / (sum(load) / len(load))))
