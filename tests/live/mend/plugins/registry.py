import functools

import torch
import torch.nn.functional as F

ACTIVATIONS = {"relu": F.relu, "silu": F.silu}
CALLBACKS = []


def callback(fn):
    CALLBACKS.append(fn)
    return fn


def fire(event, **values):
    for fn in CALLBACKS:
        fn(event, values)


@functools.lru_cache(maxsize=8)
def causal(n):
    return torch.full((n, n), float("-inf")).triu(1)
