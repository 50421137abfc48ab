import torch

FIX = r"labels of the shape of input_ids"

def before(logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels)

after = before

def calls():
    yield torch.eye(4), torch.zeros(4 if AFTER else 3, dtype=torch.long)

SAME_VALUES = False
