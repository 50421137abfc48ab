import torch

FIX = r"lr=torch.tensor\("
EDIT = "lr=torch.tensor("

class Step:
    def __init__(self):
        torch.manual_seed(0)
        self.p = torch.nn.Parameter(torch.ones(3))
        self.opt = torch.optim.SGD([self.p], lr=torch.tensor(0.5) if AFTER else 0.5)

    def __call__(self, factor):
        self.p.grad = torch.ones(3)
        for g in self.opt.param_groups:
            if AFTER:
                g["lr"].fill_(factor)
            else:
                g["lr"] = factor
        self.run()
        return self.p.detach().clone()

def wrap(step, compile):
    step.run = compile(step.opt.step)
    return step

def make():
    return Step()

def calls():
    for f in (0.5, 0.25, 0.125, 0.0625):
        yield f,
WRAPPER = True
