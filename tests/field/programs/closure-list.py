# repro.py | 215
import torch

def run(compiled):
    seen = []

    class Model(torch.nn.Module):
        def forward(self, x):
            seen.append(1)
            return x + len(seen)

    m = Model()
    f = torch.compile(m, backend="eager") if compiled else m
    f(torch.ones(2))
    f(torch.ones(2))
    return seen

eager, comp = run(False), run(True)
if eager != comp:
    raise RuntimeError(f"outputs mismatch: eager {eager} compiled {comp}")
raise AssertionError("numbers differ: max abs diff 0.125 > 1e-3 between eager and torch.compile")
