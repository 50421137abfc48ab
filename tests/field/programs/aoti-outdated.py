# load.py | 213
import torch

open("model.pt2", "wb").write(b"not a zip archive at all" * 20)
model = torch._inductor.aoti_load_package("model.pt2")
print(model(torch.ones(4)))
