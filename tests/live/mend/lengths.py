# packed sequences: lengths as Python ints by .tolist(), slices up to the longest, a running maximum on the module
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pooler(nn.Module):
    def __init__(self, d=10):
        super().__init__()
        self.proj = nn.Linear(d, d)
        self.score = nn.Linear(d, 1)
        self.longest = 0

    def forward(self, x, lengths):
        n = int(lengths.max())
        if n > self.longest:
            self.longest = n
        x = x[:, :n]
        h = torch.tanh(self.proj(x))
        mask = torch.arange(n)[None] < lengths[:, None]
        w = self.score(h).squeeze(-1).masked_fill(~mask, float("-inf")).softmax(-1)
        if (w.sum(-1) < 0.99).any():
            print("weights do not sum to 1")
        return (h * w[..., None]).sum(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = Pooler()
        self.out = nn.Linear(10, 2)
        self.seen = 0

    def forward(self, x, lengths, y):
        self.seen += x.shape[0]
        return F.cross_entropy(self.out(self.pool(x, lengths)), y)


torch.manual_seed(4)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
fn = torch.compile(net)
for i in range(6):
    lengths = torch.randint(3, 12, (6,))
    x = torch.randn(6, 12, 10)
    loss = fn(x, lengths, torch.randint(0, 2, (6,)))
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(i, "%.4f" % loss.item())
print(net.seen, net.pool.longest)
