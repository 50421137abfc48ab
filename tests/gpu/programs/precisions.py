"""A net in the precisions of a GPU: precisions.py SCENE... Each SCENE is a graph of its own and prints "SCENE: SUM".

    float32   as torch starts: matrix products in float32, convolutions of cuDNN in TF32
    tf32      matrix products in TF32, too (torch.set_float32_matmul_precision("high"))
    bfloat16  autocast to bfloat16
    wrong     the first, with a kernel in which relu(x) is x + 1: Inductor's own fault for tests

PT2_GPU_DEVICE=cpu: on the CPU, for aoti-printer --diff."""
import os
import sys
import types

import torch
import torch._functorch.config
import torch._inductor.config as inductor
from torch import nn

DEVICE = os.environ.get("PT2_GPU_DEVICE", "cuda")
inductor.fx_graph_cache = torch._functorch.config.enable_autograd_cache = False  # a graph out of a cache is in no trace


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.LayerNorm(256)
        self.up, self.down = nn.Linear(1024, 256), nn.Linear(256, 64)

    def forward(self, x):
        y = torch.tanh(self.conv(x)).mean(1).flatten(1)
        y = torch.relu(self.norm(self.up(y)))
        return torch.softmax(self.down(y), 1)


def main(scenes):
    inductor.cpp_cache_precompile_headers = False  # on the CPU: their compilation takes longer than all others
    for scene in scenes:
        torch.manual_seed(0)
        net, x = Net(), torch.randn(64, 3, 32, 32)  # on the CPU, for both devices to have the same
        net, x = net.to(DEVICE).eval(), x.to(DEVICE)
        torch.set_float32_matmul_precision("high" if scene == "tf32" else "highest")
        (inductor.triton if DEVICE == "cuda" else inductor.cpp).inject_relu_bug_TESTING_ONLY = "accuracy" if scene == "wrong" else None
        # Code of its own: what decides here is in no guard of dynamo's.
        forward = types.FunctionType(Net.forward.__code__.replace(co_name=scene), globals())
        with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16, enabled=scene == "bfloat16"):
            out = torch.compile(forward)(net, x)
        print(f"{scene}: {out.double().square().sum().item():.6f}", flush=True)


main(sys.argv[1:])
