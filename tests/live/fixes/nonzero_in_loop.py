import torch

FIX = r"capture_dynamic_output_shape_ops = True"
EDIT = "capture_dynamic_output_shape_ops"

def before(x):
    out = torch.zeros_like(x)
    for i in range(3):
        rows = torch.nonzero(x[:, 0] == i).squeeze(-1)
        out[rows] = x[rows] * (i + 1)
    return out

after = before

def setup():
    torch._dynamo.config.capture_dynamic_output_shape_ops = True

def calls():
    yield torch.tensor([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]),
