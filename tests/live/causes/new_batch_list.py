import dataclasses, torch

@dataclasses.dataclass
class Batch:
    images: list
    scale: float

@torch.compile(backend="aot_eager")
def embed(batch):
    return torch.stack([i.mean() for i in batch.images]) * batch.scale

for n in 3, 5, 2, 4:
    embed(Batch([torch.ones(4)] * n, 0.5))
