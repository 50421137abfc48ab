# main.py | 213 | TRACE=1
import torch

def step(x):
    y = torch.sin(x)
    torch._dynamo.graph_break()
    return torch.cos(y)

f = torch.compile(step, backend="aot_eager")
f(torch.randn(8))
