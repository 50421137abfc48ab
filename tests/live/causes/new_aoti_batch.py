import os, torch

os.environ["AOTI_RUNTIME_CHECK_INPUTS"] = "1"
net = torch.nn.Linear(8, 4).eval()
ep = torch.export.export(net, (torch.ones(2, 8),))
path = torch._inductor.aoti_compile_and_package(ep, package_path=os.environ.get("OUT", ".") + "/m.pt2")
model = torch._inductor.aoti_load_package(path)
model(torch.ones(2, 8))
model(torch.ones(3, 8))
