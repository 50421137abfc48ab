"""pytorch#184406: the smallest int32 divided by -1 ends the process."""
import torch

f = lambda x, y: torch.floor_divide(x, y)
args = [torch.tensor([-2147483648], dtype=torch.int32), torch.tensor([-1], dtype=torch.int32)]


def main():
    torch.compile(f)(*args)
