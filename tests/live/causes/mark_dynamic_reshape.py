import torch

W = torch.ones(4, 3)

def model(x):
    return x + W

x = torch.ones(4, 3)
torch._dynamo.mark_dynamic(x, 0)
torch.compile(model, backend="aot_eager")(x)
