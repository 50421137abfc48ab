"""pytorch#197896: a list that a method of a local class changes."""
import torch


def main():
    def g(x):
        seen = []

        class A:
            def add(self, v):
                seen.append(v)

        A().add(1)
        return x + len(seen)

    x = torch.ones(2)
    torch.testing.assert_close(torch.compile(g)(x), g(x))
