"""pytorch#143568: argmax of a bool tensor on the CPU."""
import torch

f = lambda x: torch.argmax(x * 1 > 0)
args = [torch.arange(40) % 7 == 3]


def main():
    x = torch.arange(40) % 7 == 3
    assert torch.compile(torch.argmax)(x).item() == 3, "other numbers"
