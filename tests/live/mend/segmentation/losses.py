import torch
import torch.nn.functional as F


def dice(prob, target, classes):
    """The mean over the classes that are there."""
    total, n = 0.0, 0
    for c in range(classes):
        t = (target == c).float()
        union = prob[:, c].sum() + t.sum()
        if t.sum().item() == 0:
            continue
        total = total + 1 - 2 * (prob[:, c] * t).sum() / union
        n += 1
    return total / max(1, n)


def criterion(logits, target, weight):
    return F.cross_entropy(logits, target) + weight * dice(logits.softmax(1), target, logits.shape[1])
