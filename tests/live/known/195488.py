"""pytorch#195488: an exception in a compiled autocast leaves autocast on."""
import torch


def f(x, i):
    with torch.amp.autocast("cpu", dtype=torch.bfloat16):
        return x.index_select(0, i)


def main():
    try:
        torch.compile(f, backend="eager", fullgraph=True)(torch.randn(4, 4), torch.tensor([99]))
    except IndexError:
        pass
    assert not torch.is_autocast_enabled("cpu"), "other numbers: autocast is still on"
