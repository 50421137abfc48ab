import torch.nn as nn


class Expert(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(d, h), nn.GELU(), nn.Linear(h, d)

    def forward(self, x):
        return self.down(self.act(self.up(x)))
