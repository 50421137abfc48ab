import torch

w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.AdamW([w], lr=1e-3)

def closure():
    opt.zero_grad()
    loss = (w * w).sum()
    loss.backward()
    return loss

@torch.compile(backend="aot_eager")
def step():
    return opt.step(closure)

step()
