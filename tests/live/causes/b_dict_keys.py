import torch

@torch.compile(backend="aot_eager")
def model(batch):
    return sum(v.sum() for v in batch.values())

model({"a": torch.ones(2)})
model({"a": torch.ones(2), "b": torch.ones(2)})
