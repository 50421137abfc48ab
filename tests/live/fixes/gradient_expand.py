import torch

FIX = r"return grad\.expand_as\(x\)"
SAME_VALUES = False

class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum(0)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad.expand_as(x) if AFTER else grad

def before(x):
    return Total.apply(x * 2).sum()

after = before
EAGER = after

def calls():
    yield torch.ones(2, 3, requires_grad=True),
