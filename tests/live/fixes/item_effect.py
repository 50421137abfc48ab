import torch

FIX = r"custom_op\(.ns::note., mutates_args="
OF_MEND = True

history = []

order = torch.zeros(1)

@torch.library.custom_op("fixes::note", mutates_args=("order",))
def note(order: torch.Tensor, mean: torch.Tensor) -> None:
    history.append(mean.item())

note.register_fake(lambda order, mean: None)

def before(x):
    y = x * 2
    history.append(y.mean().item())
    return y + 1

def after(x):
    y = x * 2
    note(order, y.mean())
    return y + 1

def calls():
    yield torch.ones(3),
