import os, torch

class Net(torch.nn.Module):
    def forward(self, x, scale):
        return x * scale

ep = torch.export.export(Net(), (torch.ones(4),), {"scale": torch.tensor(2.0)})
path = torch._inductor.aoti_compile_and_package(ep, package_path=os.environ.get("OUT", ".") + "/m.pt2")
model = torch._inductor.aoti_load_package(path)
model(torch.ones(4), torch.tensor(2.0))
