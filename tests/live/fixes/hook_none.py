import torch

FIX = r"and no return"

def hook(p):
    p.grad.mul_(2)
    return None if AFTER else p.grad

class Step:
    def __init__(self):
        torch.manual_seed(0)
        self.m = torch.nn.Linear(2, 2)
        self.m.weight.register_post_accumulate_grad_hook(hook)
        self.f = self.m

    def __call__(self, x):
        self.f(x).sum().backward()
        return self.m.weight.grad

def make():
    return Step()

def wrap(step, compile):
    step.f = compile(step.m)
    return step

def calls():
    yield torch.ones(3, 2),
