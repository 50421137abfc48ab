import logging, torch

log = logging.getLogger("app")

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    log.info("half way")
    return y * 2

model(torch.ones(3))
