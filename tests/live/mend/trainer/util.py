import logging

import torch

counters = {}
log = logging.getLogger("trainer")


def count(name, n):
    counters[name] = counters.get(name, 0) + n


def check_finite(x, where):
    if not torch.isfinite(x).all():
        log.error("not finite after %s", where)
