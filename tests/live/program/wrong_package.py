"""A package of AOTInductor that computes another thing than the program it was made of: the program's own decomposition is wrong."""
import sys

import torch
from torch._inductor.decomposition import decompositions


def hardsigmoid(x):
    return torch.clamp(x * 0.5 + 0.5, 0, 1)


decompositions[torch.ops.aten.hardsigmoid.default] = hardsigmoid


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(6, 8), torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.first(x).relu()
        return (x * torch.nn.functional.hardsigmoid(self.second(x))).tanh()


torch.manual_seed(0)
model, x = Gate().eval(), torch.randn(4, 6)
path = torch._inductor.aoti_compile_and_package(torch.export.export(model, (x,)), package_path=sys.argv[1])
with torch.no_grad():
    worst = (torch._inductor.aoti_load_package(path)(x) - model(x)).abs().max().item()
if worst > 1e-3:
    raise SystemExit("the package is off by %.3f" % worst)
