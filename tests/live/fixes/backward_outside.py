import torch

FIX = r"call loss.backward\(\) outside"
W = torch.nn.Parameter(torch.ones(3))

def before(x):
    loss = (W * x).sum()
    loss.backward()
    return loss.detach()

def after(x):
    return (W * x).sum()

def calls():
    yield torch.ones(3),
