# check.py | 213
import torch, torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.3))
fast = torch.compile(net)
x = torch.randn(8, 16)
torch.manual_seed(1)
a = net(x)
torch.manual_seed(2)
b = fast(x)
assert torch.allclose(a, b, atol=1e-5), "compiled model gives different output"
