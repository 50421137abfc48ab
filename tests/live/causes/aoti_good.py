import os, torch

class Net(torch.nn.Module):
    def forward(self, x):
        return (x + 1).sin()

ep = torch.export.export(Net(), (torch.ones(8),))
torch._inductor.aoti_compile_and_package(ep, package_path=os.environ.get("OUT", ".") + "/m.pt2")
