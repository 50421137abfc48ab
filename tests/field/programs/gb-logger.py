# main.py | 213 | TORCH_LOGS=graph_breaks
import logging
import torch

log = logging.getLogger("app")

def step(x):
    y = x.relu()
    log.warning("step with %s", tuple(y.shape))
    return y + 1

torch.compile(step, backend="eager")(torch.randn(8))
print("finished ok")
