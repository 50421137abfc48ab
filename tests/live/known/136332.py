"""pytorch#136332: adaptive max pooling with a large window."""
import torch
import torch.nn.functional as F

f = lambda x: F.adaptive_max_pool2d(x, (1, 1))
args = [torch.randn(1, 2, 8, 8)]
