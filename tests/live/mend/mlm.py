# masked language modelling: only masked positions go to the head, perplexity for the log, an accuracy computed each N steps
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, MASK, PAD = 50, 49, 0


class MLM(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.layer = nn.TransformerEncoderLayer(d, 2, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(d, VOCAB)

    def forward(self, ids, labels, step):
        h = self.layer(self.emb(ids), src_key_padding_mask=ids == PAD)
        keep = labels != -100
        logits = self.head(h[keep])
        loss = F.cross_entropy(logits, labels[keep])
        if step % 3 == 0:
            acc = (logits.argmax(-1) == labels[keep]).float().mean()
            print(f"step {step}: ppl {math.exp(loss.item()):.2f} acc {acc.item():.3f}")
        return loss


def collate(n, t):
    ids = torch.randint(1, VOCAB - 1, (n, t))
    labels = torch.full_like(ids, -100)
    m = torch.rand(n, t) < 0.3
    m[:, 0] = True
    labels[m] = ids[m]
    ids[m] = MASK
    return ids, labels


torch.manual_seed(0)
model = MLM()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
step_fn = torch.compile(model)
for step in range(7):
    ids, labels = collate(4, 12 if step % 2 else 9)
    loss = step_fn(ids, labels, step)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
print(f"done {loss.item():.4f}")
