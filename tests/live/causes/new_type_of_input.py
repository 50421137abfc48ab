import torch

class Unit:
    def __init__(self, scale):
        self.scale = scale

@torch.compile(backend="aot_eager")
def apply(x, unit):
    return x * unit.scale

class Big(Unit):
    pass

class Small(Unit):
    pass

for kind in Unit, Big, Small:
    apply(torch.ones(3), kind(2.0))
