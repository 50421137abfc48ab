import torch
from torch.nn.attention.flex_attention import flex_attention

def score(s, b, h, q, k):
    if q > k:
        return s
    return s * 2

@torch.compile(backend="aot_eager", fullgraph=True)
def model(q):
    return flex_attention(q, q, q, score_mod=score)

model(torch.ones(1, 1, 128, 16))
