import torch.nn as nn


def mlp(width, depth):
    layers = [nn.Linear(10, width), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 5))
