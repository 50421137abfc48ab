import torch

FIX = r"register_autograd\(backward, setup_context=setup\)"

@torch.library.custom_op(f"fixes::square{int(AFTER)}", mutates_args=())
def square(x: torch.Tensor) -> torch.Tensor:
    return x * x

square.register_fake(torch.empty_like)

def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*inputs)

def backward(ctx, grad):
    return 2 * ctx.saved_tensors[0] * grad

def setup():
    square.register_autograd(backward, setup_context=setup_context)

def before(x):
    return square(x) + 1

after = before
SAME_VALUES = False

def calls():
    yield torch.ones(3, requires_grad=True),
