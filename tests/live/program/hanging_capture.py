"""Dynamo never ends: the program replaces a method of its, which waits for something when it sees divmod."""
import torch
from torch._dynamo.variables.builtin import BuiltinVariable

real = BuiltinVariable.call_function


def call_function(self, tx, args, kwargs):
    while self.fn is divmod:
        pass
    return real(self, tx, args, kwargs)


BuiltinVariable.call_function = call_function


def scale(x, n):
    return x * n


@torch.compile
def step(x):
    y = scale(x, 2).relu()
    a, b = divmod(x.shape[0], 3)
    return y + a * b


print(step(torch.randn(7)).sum())
