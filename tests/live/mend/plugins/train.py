# activations by name from a registry, callbacks fired from inside the model with numbers, a cached mask, a switch in the environment
import torch
import torch.nn as nn
import torch.nn.functional as F

from blocks import Block
from registry import callback

history = []


@callback
def remember(event, values):
    history.append(values["entropy"])


@callback
def report(event, values):
    if len(history) % 6 == 0:
        print(event, "entropy %.4f" % values["entropy"])


class Net(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.blocks = nn.Sequential(Block(d, "relu"), Block(d, "silu"))
        self.head = nn.Linear(d, 5)

    def forward(self, x):
        return self.head(self.blocks(x).mean(1))


torch.manual_seed(0)
net = Net()
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
run = torch.compile(net)
for i in range(6):
    loss = F.cross_entropy(run(torch.randn(4, 7, 16)), torch.randint(0, 5, (4,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("step %d loss %.4f" % (i, loss.item()))
print(len(history), "%.4f" % (sum(history) / len(history)))
