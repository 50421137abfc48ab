import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger(__name__)


class Rotary(nn.Module):
    """cos and sin are made when a longer sequence than before comes."""

    def __init__(self, dim):
        super().__init__()
        self.dim, self.longest, self.cos, self.sin = dim, 0, None, None

    def forward(self, t):
        if self.cos is None or t > self.longest:
            log.warning("rotary cache for %d positions", t)
            f = torch.arange(t)[:, None] / 10000 ** (torch.arange(0, self.dim, 2) / self.dim)
            self.cos, self.sin, self.longest = f.cos(), f.sin(), t
        return self.cos[:t], self.sin[:t]


def rotate(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.n2, self.h = nn.RMSNorm(c.dim), nn.RMSNorm(c.dim), c.heads
        self.qkv, self.o = nn.Linear(c.dim, 3 * c.dim), nn.Linear(c.dim, c.dim)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 2 * c.dim), nn.SiLU(), nn.Linear(2 * c.dim, c.dim))

    def forward(self, x, rope):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(rotate(q, *rope), rotate(k, *rope), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.emb = c, nn.Embedding(c.vocab, c.dim)
        self.rope = Rotary(c.dim // c.heads)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.head = nn.Linear(c.dim, c.vocab)

    def forward(self, ids, targets):
        self.c.seen["tokens"] += ids.numel()
        rope = self.rope(ids.shape[1])
        x = self.emb(ids)
        for i, block in enumerate(self.blocks):
            x = block(x, rope)
            if x.abs().max().item() > 1e3:
                log.error("block %d: activations reach %.1f", i, x.abs().max().item())
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())
