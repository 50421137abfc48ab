# token loss over the valid positions: boolean indexing, a check of the labels, the number of tokens kept in a dict
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
totals = {"tokens": 0, "batches": 0}


class Tagger(nn.Module):
    def __init__(self, vocab=50, d=24, tags=6):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.rnn = nn.Linear(d, d)
        self.out = nn.Linear(d, tags)

    def forward(self, ids):
        h = self.emb(ids)
        h = torch.tanh(self.rnn(h) + h.mean(1, keepdim=True))
        return self.out(h)


tagger = Tagger()
opt = torch.optim.Adam(tagger.parameters(), lr=3e-3)


@torch.compile
def loss_of(ids, tags):
    logits = tagger(ids)
    if tags.max() >= 6:
        raise ValueError("unknown tag %d" % tags.max().item())
    valid = tags >= 0
    n = valid.sum().item()
    totals["tokens"] += n
    totals["batches"] += 1
    return F.cross_entropy(logits[valid], tags[valid])


for step in range(6):
    length = [7, 9, 7, 8, 9, 7][step]
    ids = torch.randint(0, 50, (4, length))
    tags = torch.randint(0, 6, (4, length))
    tags[:, length - 2:] = -1
    loss = loss_of(ids, tags)
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(f"{step}: {loss.item():.4f}")
print(totals["tokens"], totals["batches"])
