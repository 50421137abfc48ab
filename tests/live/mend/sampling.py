# temperature sampling: top-k as an argument, a Python list of finished rows, early stop, the cache of keys in a list
import torch
import torch.nn as nn


class Decoder(nn.Module):
    def __init__(self, vocab=40, d=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.q = nn.Linear(d, d)
        self.kv = nn.Linear(d, 2 * d)
        self.out = nn.Linear(d, vocab)
        self.cache = []
        self.debug = True

    def forward(self, tok, temperature, top_k):
        x = self.emb(tok)
        k, v = self.kv(x).chunk(2, -1)
        self.cache.append((k, v))
        K = torch.stack([c[0] for c in self.cache], 1)
        V = torch.stack([c[1] for c in self.cache], 1)
        att = (self.q(x)[:, None] * K).sum(-1).softmax(-1)
        logits = self.out((att[..., None] * V).sum(1)) / temperature
        if self.debug and torch.isinf(logits).any().item():
            print("inf at", len(self.cache))
        kth = logits.topk(top_k).values[:, -1:]
        return logits.masked_fill(logits < kth, float("-inf"))


torch.manual_seed(11)
dec = Decoder().eval()
step = torch.compile(dec)
with torch.no_grad():
    for prompt, temp in ((3, 1.0), (7, 0.8)):
        dec.cache.clear()
        tok = torch.full((2,), prompt)
        out = []
        for i in range(5):
            logits = step(tok, temp, 5)
            tok = logits.argmax(-1)
            out.append(tok.tolist())
        print(prompt, out)
