import os
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user'
os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims

import triton
import triton.language as tl

import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config

isolate_fails_code_str = None

# torch version: 2.13.0+cu130
torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()
BLOCK = tl.constexpr(64)

@triton.jit
def scale(x):
    return x * 2

@triton.autotune(
    configs=[
        triton.Config(
            {'BLOCK_SIZE': 128},
            num_warps=4,
            num_stages=2,
        )
    ],
    key=[]
)
@triton.jit
def add_kernel_0(in_ptr0, out_ptr, n, BLOCK_SIZE: "tl.constexpr"):
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n
# a comment in the first column
    tl.store(out_ptr + offs, scale(tl.load(in_ptr0 + offs, mask=mask)), mask=mask)
torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.add_kernel(add_kernel_0)
torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.constant_args={0: {'n': 256}}

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, arg0_1):
        empty = torch.ops.aten.empty_like.default(arg0_1)
        triton_kernel_wrapper_functional_proxy = torch.ops.higher_order.triton_kernel_wrapper_functional(kernel_idx = 0, constant_args_idx = 0, grid = [(4, 1, 1)], tma_descriptor_metadata = {}, kwargs = {'in_ptr0': arg0_1, 'out_ptr': empty}, tensors_to_clone = ['out_ptr']);  arg0_1 = empty = None
        getitem = triton_kernel_wrapper_functional_proxy['out_ptr'];  triton_kernel_wrapper_functional_proxy = None
        return (getitem,)

def load_args(reader):
    buf0 = reader.storage(None, 1024, device=device(type='cuda', index=0))
    reader.tensor(buf0, (256,), is_leaf=True)  # arg0_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
