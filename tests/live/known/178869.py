"""pytorch#178869: the stance eager_then_compile, and an input of another rank."""
import torch


def main():
    f = torch.compile(lambda x: x + 1, backend="eager")
    with torch.compiler.set_stance("eager_then_compile"):
        for x in (torch.ones(2), torch.ones(3), torch.ones(2, 3), torch.ones(2, 3, 4), torch.ones(4, 3, 4)):
            f(x)
