import os

import torch
import torch.nn as nn

from registry import ACTIVATIONS, causal, fire


class Block(nn.Module):
    def __init__(self, d, act):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.act = act

    def forward(self, x):
        w = self.q(x) @ self.k(x).transpose(1, 2) / x.shape[-1] ** 0.5 + causal(x.shape[1])
        w = w.softmax(-1)
        if os.environ.get("WATCH", "1") == "1":
            fire("attention", entropy=-(w * (w + 1e-9).log()).sum(-1).mean().item())
        return x + ACTIVATIONS[self.act](self.o(w @ self.v(x)))
