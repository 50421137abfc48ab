import threading, torch

lock = threading.Lock()
cache = {}

@torch.compile(backend="aot_eager")
def model(x):
    y = x * 2
    with lock:
        cache["last"] = 1
    return y + 1

model(torch.ones(3))
