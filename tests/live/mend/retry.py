# environment switches read in forward, a try around a library call, JSON of the settings printed once, hash of a name
import json
import os
import zlib

import torch
import torch.nn as nn
import torch.nn.functional as F


class Hashed(nn.Module):
    def __init__(self, names, d=8):
        super().__init__()
        self.table = nn.Embedding(64, d)
        self.names = names
        self.fc = nn.Linear(d, 3)
        self.announced = False

    def forward(self, x, name):
        slot = zlib.crc32(name.encode()) % 64
        if not self.announced:
            print(json.dumps({"names": self.names, "slot": slot}))
            self.announced = True
        e = self.table(torch.tensor(slot))
        h = self.fc(torch.relu(x + e))
        if os.environ.get("CHECK_NAN") == "1" or torch.isnan(h).any():
            print("NaN for", name)
        return h


torch.manual_seed(0)
net = Hashed(["a", "b"])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
fast = torch.compile(net)
for i in range(6):
    out = fast(torch.randn(5, 8), "ab"[i % 2])
    loss = F.cross_entropy(out, torch.randint(0, 3, (5,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.4f" % loss.item())
