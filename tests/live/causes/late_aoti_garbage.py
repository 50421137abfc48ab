import os, torch

path = os.environ.get("OUT", ".") + "/m.pt2"
torch.save({"weights": torch.ones(3)}, path)
model = torch._inductor.aoti_load_package(path)
model(torch.ones(3))
