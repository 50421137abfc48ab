import torch

FIX = r"return x\.clone\(\) where the operator"
EDIT = "return x.clone()"

@torch.library.custom_op("fixes::same", mutates_args=())
def same(x: torch.Tensor) -> torch.Tensor:
    return x

@torch.library.custom_op("fixes::copy", mutates_args=())
def copied(x: torch.Tensor) -> torch.Tensor:
    return x.clone()

same.register_fake(torch.empty_like)
copied.register_fake(torch.empty_like)

def before(x):
    return same(x + 1) * 2

def after(x):
    return copied(x + 1) * 2

EAGER = after

def calls():
    yield torch.ones(3),
