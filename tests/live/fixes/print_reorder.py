import torch

FIX = r"reorderable_logging_functions.add\(print\)"
EDIT = "reorderable_logging_functions.add(print)"

def before(x):
    y = x + 1
    print("half way")
    return y * 2

after = before

def setup():
    torch._dynamo.config.reorderable_logging_functions.add(print)

def calls():
    yield torch.ones(3),
