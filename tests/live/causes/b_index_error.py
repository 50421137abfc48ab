import torch

LAYERS = [torch.nn.Linear(3, 3)]

def model(x, depth):
    for i in range(depth):
        x = LAYERS[i](x)
    return x

torch.compile(model, backend="aot_eager", fullgraph=True)(torch.ones(2, 3), 2)
