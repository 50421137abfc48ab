import torch

FIX = r"capture_dynamic_output_shape_ops = True"
EDIT = "capture_dynamic_output_shape_ops"

def before(x):
    return torch.nonzero(x).sum() + x.sum()

after = before

def setup():
    torch._dynamo.config.capture_dynamic_output_shape_ops = True

def calls():
    yield torch.ones(3),
