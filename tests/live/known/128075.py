"""pytorch#128075: a Fraction that is made in compiled code."""
from fractions import Fraction

import torch


def f(x):
    return x + float(Fraction(1, 2) + Fraction(1, 4))


args = [torch.zeros(2)]
how = {"backend": "eager", "fullgraph": True}
