# train.py | 213
import torch

def f(x):
    return (torch.sqrt(x) * (x * 0)).sum()

x = torch.zeros(4, requires_grad=True)
with torch.autograd.detect_anomaly():
    loss = torch.compile(f, backend="aot_eager")(x)
    loss.backward()
