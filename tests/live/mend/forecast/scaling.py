import torch
import torch.nn as nn

seen = {"batches": 0, "constant": 0}


class InstanceScaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = self.std = None

    def norm(self, x):
        if torch.isnan(x).any():
            raise ValueError("missing values in the window")
        seen["batches"] += 1
        self.mean, self.std = x.mean(1, keepdim=True), x.std(1, keepdim=True)
        if (self.std < 1e-6).any():
            seen["constant"] += 1
            self.std = self.std.clamp(min=1e-6)
        return (x - self.mean) / self.std

    def denorm(self, y):
        return y * self.std + self.mean
