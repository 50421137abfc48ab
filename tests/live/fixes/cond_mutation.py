import torch

FIX = r"return new values"
COMPILE = dict(fullgraph=True)

def before(x):
    def yes(x):
        x.add_(1)
        return x.sin()
    return torch.cond(x.sum() > 0, yes, lambda x: x.cos(), (x.clone(),))

def after(x):
    return torch.cond(x.sum() > 0, lambda x: (x + 1).sin(), lambda x: x.cos(), (x,))

def EAGER(x):  # torch.cond itself refuses in eager
    return (x + 1).sin() if x.sum() > 0 else x.cos()

def calls():
    yield torch.ones(3),
