import torch

def attend(q, k, mask):
    scores = q @ k.transpose(-1, -2)
    scores = scores + mask
    return scores.softmax(-1)

torch.compile(attend, backend="aot_eager", fullgraph=True)(torch.ones(2, 4, 8), torch.ones(2, 4, 8), torch.ones(2, 5, 5))
