import torch

FIX = r"state = state.detach\(\)"

class Loop:
    def __init__(self):
        self.f = self.step
        self.state = torch.ones(3, requires_grad=True)

    def step(self, state):
        return state * state

    def __call__(self, i):
        out = self.f(self.state.detach().requires_grad_() if AFTER else self.state)
        out.sum().backward()
        self.state = out
        return out

def make():
    return Loop()

def wrap(loop, compile):
    loop.f = compile(loop.step)
    return loop

def calls():
    yield 0,
    yield 1,
