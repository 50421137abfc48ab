import torch

def f(logits):
    logits = logits + 1
    return logits.softmax(-1)

torch.compile(f, backend="aot_eager")(torch.zeros(3, dtype=torch.long))
