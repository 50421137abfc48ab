import torch._inductor.overrides

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
from torch.fx.experimental.proxy_tensor import make_fx

import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
torch._dynamo.config.load_config(b'\x80\x02}q\x00(X\x0b\x00\x00\x00output_codeq\x01\x89u.')
torch._inductor.config.load_config(b'\x80\x02}q\x00(X\x05\x00\x00\x00debugq\x01\x89u.')


# REPLACEABLE COMMENT FOR TESTING PURPOSES


# torch version: 2.0.0+cpu
# torch cuda version: None
# torch git version: 0000000000000000000000000000000000000000


# torch.cuda.is_available()==False, no GPU info collected

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()

    
    
    def forward(self, arg0_1, arg1_1):
        mul = torch.ops.aten.mul.Tensor(arg1_1, 2);  arg1_1 = None
        exp = torch.ops.aten.exp.default(mul);  mul = None
        return (exp,)
        
args = []
args.append(8)  # s0
args.append(rand_strided((8, 4), (4, 1), torch.float32, 'cpu'))  # shape (s0, 4), stride (4, 1)
mod = make_fx(Repro(), tracing_mode='symbolic')(*args)

from torch._inductor.compile_fx import compile_fx_inner
from torch._dynamo.debug_utils import same_two_models

compiled = compile_fx_inner(mod, args)
class AccuracyError(Exception):
    pass
if not same_two_models(mod, compiled, args, only_fwd=True):
    raise AccuracyError("Bad accuracy detected")
