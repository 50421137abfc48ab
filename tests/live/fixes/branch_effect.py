import torch

FIX = r"custom_op\(.ns::check., mutates_args="
OF_MEND = True

seen = []

order = torch.zeros(1)

@torch.library.custom_op("fixes::check", mutates_args=("order",))
def check(order: torch.Tensor, top: torch.Tensor) -> None:
    if top > 5:
        seen.append(top.item())

check.register_fake(lambda order, top: None)

def before(x):
    y = x * 2
    if y.max().item() > 5:
        seen.append(y.max().item())
    return y + 1

def after(x):
    y = x * 2
    check(order, y.max())
    return y + 1

def calls():
    yield torch.ones(3),
    yield torch.full((3,), 4.0),
