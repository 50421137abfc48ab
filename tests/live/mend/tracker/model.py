import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, tracker):
        super().__init__()
        self.tracker = tracker
        self.encoder = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.head = nn.Linear(24, 3)

    def forward(self, x):
        with self.tracker.section("encoder"):
            h = self.encoder(x)
        dead = (h == 0).all(0).sum().item()
        if dead > 12:
            print(dead, "dead units")
        with self.tracker.section("head"):
            y = self.head(h)
        self.tracker.log(dead=dead, norm=round(h.norm().item(), 3))
        return y
