"""pytorch#169253: a list in the class that forward appends to, where forward itself is compiled."""
import torch


class M(torch.nn.Module):
    items = []

    def forward(self, x):
        M.items.append(x)


def main():
    m = M()
    m.forward = torch.compile(m.forward, backend="eager")
    m(torch.ones(2))
    m(torch.ones(2))
    assert len(M.items) == 2, "other numbers"
