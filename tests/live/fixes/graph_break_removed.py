import torch

FIX = r"remove the call"
EDIT = "remove the call"

def before(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2

def after(x):
    x = x + 1
    return x * 2

def calls():
    yield torch.ones(3),
