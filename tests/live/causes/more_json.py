import json, torch

@torch.compile(backend="aot_eager")
def f(x):
    y = x * 2
    s = json.dumps({"a": 1})
    return y * len(s)

f(torch.ones(3))
