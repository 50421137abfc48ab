# app.py | 213 | WRAP=python.h
import torch

def f(x):
    return (x.sin() + x.cos()).softmax(0)

print(torch.compile(f)(torch.randn(64)))
