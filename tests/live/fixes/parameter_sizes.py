import torch

FIX = r"force_parameter_static_shapes = False"
EDIT = "force_parameter_static_shapes"
GRAPHS_AFTER = 2

def setup():
    torch._dynamo.config.force_parameter_static_shapes = False

def before(x, p):
    return x @ p

after = before

def calls():
    for n in range(4, 9):
        yield torch.ones(2, n), torch.nn.Parameter(torch.ones(n, 3))
