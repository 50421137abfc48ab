"""A model whose package does not compile: Inductor's own fault for tests. Its weights are attributes of modules in the exported graph."""
import sys

import torch
import torch._inductor.config as config


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Sequential(torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))

    def forward(self, x, n):
        y = torch.relu(self.up(x)) * (torch.arange(16) < n)
        return torch.log_softmax(self.down(y), -1)


exported = torch.export.export(Head().eval(), (torch.randn(3, 8), torch.tensor(5)), dynamic_shapes=({0: torch.export.Dim("b", min=2, max=64)}, None))
with config.patch({"cpp.inject_relu_bug_TESTING_ONLY": "compile_error"}):
    torch._inductor.aoti_compile_and_package(exported, package_path=sys.argv[1])
