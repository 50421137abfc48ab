import torch

class Fast: pass
class Slow: pass

@torch.compile(backend="aot_eager")
def model(x, scale, mode, extra):
    return x * scale + len(extra) + (1 if isinstance(mode, Fast) else 2)

model(torch.ones(4), 1.0, Fast(), {})
model(torch.ones(6), 1.0, Fast(), {})
model(torch.ones(6), 2.5, Fast(), {})
model(torch.ones(6), 2.5, Slow(), {})
model(torch.ones(6), 2.5, Slow(), {"a": 1})
model(torch.ones(6, dtype=torch.float64), 2.5, Slow(), {"a": 1})
with torch.no_grad():
    model(torch.ones(6, dtype=torch.float64), 2.5, Slow(), {"a": 1})
