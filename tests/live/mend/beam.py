# beam search: scores of one step are compiled, hypotheses are Python lists, finished ones are taken out by their token
import torch
import torch.nn as nn
import torch.nn.functional as F

EOS, BOS, V = 1, 0, 24


class Decoder(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.rnn = nn.GRUCell(d, d)
        self.out = nn.Linear(d, V)

    def forward(self, tok, h):
        h = self.rnn(self.emb(tok), h)
        return self.out(h), h


torch.manual_seed(4)
net = Decoder().eval()
finished = []


@torch.compile
def expand(tokens, state, scores, length):
    logits, state = net(tokens, state)
    logp = F.log_softmax(logits, -1)
    if length < 2:
        logp[:, EOS] = -1e9
    total = (scores[:, None] + logp).view(-1)
    best, idx = total.topk(scores.size(0))
    parent, tok = idx // V, idx % V
    done = [i for i, t in enumerate(tok.tolist()) if t == EOS]
    if done:
        finished.extend((best[i].item() / (length + 1), i) for i in done)
        best = best.clone()
        best[done] = -1e9
    return tok, state[parent], best


with torch.no_grad():
    for src in range(2):
        tokens = torch.full((3,), BOS)
        state = torch.randn(1, 24).expand(3, 24).contiguous()
        scores = torch.tensor([0.0, -1e9, -1e9])
        for t in range(6):
            tokens, state, scores = expand(tokens, state, scores, t)
            if scores.max().item() < -1e8:
                break
        print("source", src, "best %.4f" % scores.max().item(), tokens.tolist(), len(finished))
