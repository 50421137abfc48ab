"""pytorch#128942: a class that is made in compiled code."""
import torch


def f(x):
    class A:
        k = 2

        def g(self):
            return self.k

    return x + A().g()


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
