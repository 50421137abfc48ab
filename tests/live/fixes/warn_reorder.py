import warnings

import torch

FIX = r"reorderable_logging_functions.add\(warnings.warn\)"
EDIT = "reorderable_logging_functions.add(warnings.warn)"

def before(x):
    y = x + 1
    warnings.warn("half way")
    return y * 2

after = before

def setup():
    torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)

def calls():
    yield torch.ones(3),
