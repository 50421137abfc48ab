"""User a: the graph breaks; which line?"""
import logging

import numpy as np
import torch

log = logging.getLogger("app")


class Router(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        h = torch.relu(self.a(x))
        if h.mean() > 0.2:
            h = h * 2
        log.warning("mean %s", h.mean().item())
        n = np.asarray(h.detach().cpu().numpy()).argmax()
        return self.b(h) + int(n)


model = torch.compile(Router(), backend="aot_eager")
for _ in range(2):
    model(torch.randn(4, 8))
