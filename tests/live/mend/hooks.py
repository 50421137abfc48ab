# forward hooks collect activation statistics in a dict of floats; an assertion on the input; a Python counter in a closure
import torch
import torch.nn as nn

stats = {}


def watch(name):
    def hook(module, args, out):
        stats.setdefault(name, []).append(out.detach().std().item())
    return hook


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 16)
        self.b = nn.Linear(16, 8)

    def forward(self, x):
        assert x.abs().max() < 100, "input is not normalized"
        return self.b(torch.relu(self.a(x))) + x


torch.manual_seed(7)
body = Body()
body.a.register_forward_hook(watch("a"))
body.b.register_forward_hook(watch("b"))
fast = torch.compile(body)
opt = torch.optim.SGD(body.parameters(), lr=0.05)
for i in range(5):
    loss = fast(torch.randn(6, 8)).square().mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    print("%d %.4f" % (i, loss.item()))
for k in sorted(stats):
    print(k, len(stats[k]), "%.4f" % (sum(stats[k]) / len(stats[k])))
