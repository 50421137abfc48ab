# pretraining: a rotary cache made on demand, tokens counted in the configuration, checks of activations in each block, a curriculum of lengths
import math

import torch

from config import Config
from model import LM

torch.manual_seed(0)
cfg = Config()
model = LM(cfg)
opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
model = torch.compile(model)
for it in range(8):
    t = 8 if it < 4 else 12
    ids = torch.randint(0, cfg.vocab, (3, t + 1))
    for g in opt.param_groups:
        g["lr"] = cfg.lr * 0.5 * (1 + math.cos(math.pi * it / 8))
    loss = model(ids[:, :-1], ids[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 2 == 0:
        print(f"iter {it} loss {loss.item():.4f} tokens {cfg.seen['tokens']}")
