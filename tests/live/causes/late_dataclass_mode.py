import torch
from dataclasses import dataclass

@dataclass
class Config:
    mode: str = "mean"

@torch.compile(backend="aot_eager")
def pool(x, cfg):
    if cfg.mode == "mean":
        return x.mean()
    if cfg.mode == "max":
        return x.max()
    return x.sum()

for mode in ("mean", "max", "sum"):
    pool(torch.ones(4), Config(mode))
