# lower.py | 211
import torch

def lower(gm, example_inputs):
    table = {"call_function": 1}
    for node in gm.graph.nodes:
        table[node.op]
    return gm.forward

@torch.compile(backend=lower)
def f(x):
    return x + 1

f(torch.ones(2))
