import numpy as np
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        peak = np.percentile(x.numpy(), 90)
        return x / float(peak)

torch.export.export(Net(), (torch.ones(8),), strict=False)
