import torch

def model(x):
    if x.shape[0] == 4:
        return x * 2
    return x + 1

x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
torch.compile(model, backend="aot_eager")(x)
