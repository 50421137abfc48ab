import torch._inductor.overrides

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
from torch.fx.experimental.proxy_tensor import make_fx

# torch version: 1.13.0
# torch cuda version: None
# torch git version: 0000000000000000000000000000000000000000


# torch.cuda.is_available()==False, no GPU info collected

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()



    def forward(self, add, arg1_1):
        relu = torch.ops.aten.relu.default(add);  add = None
        mul = torch.ops.aten.mul.Tensor(relu, arg1_1);  relu = arg1_1 = None
        return (mul,)

args = [((20, 20), (20, 1), torch.float32, 'cpu'), ((), (), torch.int64, 'cpu')]
args = [rand_strided(shape, stride, dtype, device) for shape, stride, dtype, device in args]
mod = make_fx(Repro())(*args)

from torch._inductor.compile_fx import compile_fx_inner

compiled = compile_fx_inner(mod, args)
compiled(args)
