"""User b: it recompiles in every step."""
import torch


class Schedule:
    lr, step = 0.1, 0


@torch.compile(backend="aot_eager")
def step(x, w, s, mask):
    y = x @ w
    if s.step % 2:
        y = y + 1
    return (y * s.lr * mask[:, None]).sum()


s = Schedule()
for i in range(6):
    s.step, s.lr = i, 0.1 / (i + 1)
    step(torch.randn(4 + i, 8), torch.randn(8, 8), s, torch.ones(4 + i, dtype=[torch.float32, torch.float64][i % 2]))
