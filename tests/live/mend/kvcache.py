# generation with a cache that grows by one, a repetition penalty with a Python set, stop at EOS, tokens a second on standard error
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attn(nn.Module):
    def __init__(self, d=32, h=2):
        super().__init__()
        self.qkv, self.o, self.h = nn.Linear(d, 3 * d), nn.Linear(d, d), h

    def forward(self, x, cache):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.h, d // self.h).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        if "k" in cache:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
        return self.o(y.transpose(1, 2).reshape(b, t, d))


class LM(nn.Module):
    def __init__(self, v=40, d=32, n=2):
        super().__init__()
        self.emb, self.pos = nn.Embedding(v, d), nn.Embedding(64, d)
        self.layers = nn.ModuleList(Attn(d) for _ in range(n))
        self.head = nn.Linear(d, v)
        self.seen = set()

    def forward(self, ids, caches, start):
        x = self.emb(ids) + self.pos(torch.arange(start, start + ids.shape[1]))
        for layer, cache in zip(self.layers, caches):
            x = x + layer(x, cache)
        logits = self.head(x[:, -1])
        for s in self.seen:
            logits[:, s] -= 1.0
        nxt = logits.argmax(-1)
        self.seen.add(nxt[0].item())
        return nxt


torch.manual_seed(2)
model = LM().eval()
generate = torch.compile(model)
with torch.no_grad():
    ids = torch.randint(0, 40, (1, 5))
    caches = [{} for _ in model.layers]
    out, pos, t0 = ids[0].tolist(), 0, time.perf_counter()
    for _ in range(7):
        nxt = generate(ids, caches, pos)
        pos += ids.shape[1]
        if nxt[0] == 39:
            break
        out.append(nxt[0].item())
        ids = nxt[:, None]
print(out)
print("%.1f tokens/s" % (7 / (time.perf_counter() - t0)), file=sys.stderr)
