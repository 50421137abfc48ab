import torch

torch._dynamo.config.fail_on_recompile_limit_hit = True
torch._dynamo.config.recompile_limit = 3

@torch.compile(backend="eager")
def model(x, mode):
    return x * len(mode)

for i in range(9):
    model(torch.ones(3), "m" * i)
