import logging

import torch

FIX = r"ignore_logging_functions.add\([lL][oO][gG]"
EDIT = "ignore_logging_functions"
LOG = logging.getLogger("app")

def before(x):
    y = x + 1
    LOG.warning("half way")
    return y * 2

after = before

def setup():
    torch._dynamo.config.ignore_logging_functions.add(LOG.warning)

def calls():
    yield torch.ones(3),
