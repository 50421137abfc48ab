import faulthandler, os, torch

faulthandler.enable()

class Net(torch.nn.Module):
    def forward(self, x):
        return (x + 1).sin()

ep = torch.export.export(Net(), (torch.ones(1 << 22),))
path = torch._inductor.aoti_compile_and_package(ep, package_path=os.environ.get("OUT", ".") + "/m.pt2")
model = torch._inductor.aoti_load_package(path)
model(torch.ones(4))
