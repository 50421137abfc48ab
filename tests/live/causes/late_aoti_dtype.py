import os, torch

os.environ["AOTI_RUNTIME_CHECK_INPUTS"] = "1"

class Net(torch.nn.Module):
    def forward(self, x):
        return x.sin() + 1

ep = torch.export.export(Net(), (torch.ones(8),))
path = torch._inductor.aoti_compile_and_package(ep, package_path=os.environ.get("OUT", ".") + "/m.pt2")
model = torch._inductor.aoti_load_package(path)
model(torch.ones(8, dtype=torch.float64))
