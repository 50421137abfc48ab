# train.py | 213
import torch

def f(x):
    return (x * torch.sqrt(x * 0)).sum()

x = torch.zeros(4, requires_grad=True)
with torch.autograd.detect_anomaly():
    loss = torch.compile(f)(x)
    loss.backward()
