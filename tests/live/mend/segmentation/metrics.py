import numpy as np


class Confusion:
    def __init__(self, classes):
        self.m = np.zeros((classes, classes), dtype=np.int64)

    def update(self, pred, target):
        n = len(self.m)
        idx = target.flatten() * n + pred.flatten()
        self.m += np.bincount(idx, minlength=n * n).reshape(n, n)

    def iou(self):
        inter = np.diag(self.m)
        return inter / np.maximum(1, self.m.sum(0) + self.m.sum(1) - inter)
