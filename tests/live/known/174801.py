"""pytorch#174801: inspect.signature of a callable object."""
import inspect

import torch


class C:
    def __call__(self, a, b=2):
        return a


c = C()


def f(x):
    return x + len(inspect.signature(c).parameters)


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
