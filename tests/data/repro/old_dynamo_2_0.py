import os
from math import inf
import torch
from torch import tensor, device
import torch.fx as fx
import functools
import torch._dynamo
from torch._dynamo.debug_utils import run_fwd_maybe_bwd
from torch._dynamo.backends.registry import lookup_backend
from torch._dynamo.testing import rand_strided

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Linear(in_features=4, out_features=4, bias=True)

    def forward(self, add):
        fc = self.fc(add);  add = None
        relu = torch.relu(fc);  fc = None
        return (relu,)


mod = Repro()
opt_mod = torch._dynamo.optimize("inductor")(mod)


args = [((2, 4), (4, 1), torch.float32, 'cpu', True)]
args = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in args]


with torch.cuda.amp.autocast(enabled=False):
    ref = run_fwd_maybe_bwd(mod, args)
    res = run_fwd_maybe_bwd(opt_mod, args)
