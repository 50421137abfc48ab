import torch

TABLE = {"a": 1}

@torch.compile(backend="aot_eager")
def model(x, key):
    x = x + 1
    try:
        return x * TABLE[key]
    except KeyError as e:
        print("no", key)
        return x

model(torch.ones(3), "missing")
