# loop.py | 215 | TRACE=1
import torch

class Cfg:
    heads = 2

cfg = Cfg()

@torch.compile(backend="eager")
def attend(x):
    return x.view(cfg.heads, -1).softmax(-1)

for h in (2, 4, 8):
    cfg.heads = h
    attend(torch.ones(16))
