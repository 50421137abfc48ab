"""identity.py SEED: compiles, differentiates, exports and resets as chance has it; for tests/live/identity.t.

Backwards come late, also after resets, the newest first: that one whose forward is older than another of the same id comes first cannot be told.
"""
import random
import sys

import torch
import truth

truth.begin()
chance = random.Random(int(sys.argv[1]))


def first(x, w):
    return torch.tanh(x @ w).sum()


def second(x, w):
    y = torch.relu(x @ w)
    torch._dynamo.graph_break()
    return (y * 2).sum()


def third(x, w):
    y = x.sin()
    torch._dynamo.reset()  # in the middle
    return (y @ w).sum()


def fails(x, w):
    raise ValueError(x.shape)



w = torch.ones(4, 4, requires_grad=True)
waiting = []


def forward():
    f = chance.choice([first, first, second, third])
    waiting.append(torch.compile(f, backend=chance.choice(["aot_eager", "inductor"]))(torch.ones(chance.choice([1, 2, 3, 5]), 4), w))


def inference():
    with torch.no_grad():
        torch.compile(chance.choice([first, second]), backend="eager")(torch.ones(chance.choice([1, 2, 3, 5]), 4), w)


def backward():
    if waiting:
        waiting.pop().backward()


def failure():
    try:
        torch.compile(fails, backend="eager", fullgraph=True)(torch.ones(2), w)
    except Exception:
        pass


def export():
    torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),), strict=True)


def autograd():
    torch._dynamo.reset()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        (w * 3).sum().backward()
    torch._dynamo.reset()


steps = [forward] * 6 + [inference] * 3 + [backward] * 6 + [torch._dynamo.reset] * 5 + [failure, export, autograd, waiting.clear]
for _ in range(40):
    chance.choice(steps)()
truth.end()
