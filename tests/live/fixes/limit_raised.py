import torch

FIX = r"torch._dynamo.config.recompile_limit = 16"
EDIT = "recompile_limit = 16"
COMPILE = dict(fullgraph=True)
GRAPHS_AFTER = 10

def before(x, mode):
    return x * len(mode)

after = before

def setup():
    torch._dynamo.config.recompile_limit = 16

def calls():
    for i in range(10):
        yield torch.ones(3), "m" * i
