import torch

@torch._dynamo.error_on_graph_break(True)
@torch.compile(backend="aot_eager")
def model(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1

model(torch.ones(3))
