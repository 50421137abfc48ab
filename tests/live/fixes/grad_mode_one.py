import torch

FIX = r"in the same grad mode"

def before(x):
    return x * 2

after = before

class Call:
    def __init__(self):
        self.f = before

    def __call__(self, x, grad):
        with torch.set_grad_enabled(grad):
            return self.f(x)

def make():
    return Call()

def wrap(call, compile):
    call.f = compile(call.f)
    return call

def calls():
    for grad in (False, True):
        yield torch.ones(3), grad and not AFTER
