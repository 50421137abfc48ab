import torch


def frames(wave, size, hop):
    n = (wave.shape[-1] - size) // hop + 1
    return wave.unfold(-1, size, hop)[:, :n]


def normalize(x, eps=1e-5):
    std = x.std(-1, keepdim=True)
    if (std < eps).any():
        print("silent frame")
    return (x - x.mean(-1, keepdim=True)) / (std + eps)
