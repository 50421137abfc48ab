"""A pass of the program's own that never ends: its module is beside the program."""
import endless
import torch

endless.enable()


@torch.compile
def run(x):
    y = (x @ x.T).softmax(-1)
    return (y.cumsum(1) / torch.arange(1, 7)).relu() + 1


with torch.no_grad():
    print(run(torch.randn(6, 6)).shape)
