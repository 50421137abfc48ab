import io, torch

@torch.compile(backend="aot_eager")
def model(x):
    h = x * 2
    torch.save(h, io.BytesIO())
    return h + 1

model(torch.ones(3))
