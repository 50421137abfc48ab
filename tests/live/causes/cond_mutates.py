import torch

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    def yes(x):
        x.add_(1)
        return x.sin()
    def no(x):
        return x.cos()
    return torch.cond(x.sum() > 0, yes, no, (x,))

model(torch.ones(3))
