import torch

net = torch.nn.Linear(4, 4)

@torch.compile(backend="aot_eager")
def score(x):
    return net(x).softmax(-1)

x = torch.ones(2, 4)
score(x)
with torch.autocast("cpu", dtype=torch.bfloat16):
    score(x)
with torch.autocast("cpu", dtype=torch.float16):
    score(x)
