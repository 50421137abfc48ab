import torch

class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sum(0)

    @staticmethod
    def backward(ctx, grad):
        return grad

@torch.compile(backend="aot_eager")
def f(x):
    return Total.apply(x * 2).sum()

f(torch.ones(2, 3, requires_grad=True)).backward()
