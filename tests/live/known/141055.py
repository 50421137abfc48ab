"""pytorch#141055: a generator is an ordinary function for Dynamo."""
import torch


def gen(x, log):
    log.append(1)
    yield x + 1
    log.append(2)
    yield x + 2


def f(x):
    log = []
    g = gen(x, log)
    y = next(g)
    return y, len(log)


def main():
    y, n = torch.compile(f, backend="eager", fullgraph=True)(torch.zeros(1))
    assert n == 1, "other numbers"
