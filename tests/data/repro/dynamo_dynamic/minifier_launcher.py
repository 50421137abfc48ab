
import os
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '1'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user'
os.environ['TORCH_COMPILE_DEBUG_DIR'] = '/tmp'
os.environ['_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR'] = '140701409659936'
os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)
os.environ.pop('TORCHDYNAMO_REPRO_LEVEL', None)

from math import inf
import torch
from torch import tensor, device
import torch.fx as fx
import torch._dynamo
from torch._dynamo.testing import rand_strided
from torch._dynamo.debug_utils import run_fwd_maybe_bwd

import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config
torch._dynamo.config.assume_static_by_default = False
torch._inductor.config.inplace_buffers = True
torch._inductor.config.comprehensive_padding = True
torch._inductor.config.deterministic = False
torch._inductor.config.triton.store_cubin = False
torch._functorch.config.functionalize_rng_ops = False
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True
torch._functorch.config.unlift_effect_tokens = False
torch._functorch.config.selective_decompose = False






from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, s77 : torch.SymInt, s27 : torch.SymInt, L_x_ : torch.Tensor, L_n_ : torch.SymInt, s17 : torch.SymInt, s94 : torch.SymInt, L_y_ : torch.Tensor):
        l_x_ = L_x_
        l_n_ = L_n_
        l_y_ = L_y_
        mul = l_x_ * l_n_;  l_x_ = l_n_ = None
        cat = torch.cat([mul, l_y_], 1);  mul = l_y_ = None
        relu = cat.relu();  cat = None
        mul_1 = s17 * 2;  s17 = None
        return (relu, mul_1)


mod = Repro()

def load_args(reader):
    reader.symint(3, expr='s17')  # s77
    reader.symint(4, expr='s27')  # s27
    buf0 = reader.storage('ae0b227b83331a2fb255abfb911527cb7cf4ad77', 48)
    reader.tensor(buf0, (3, 4), is_leaf=True)  # L_x_
    reader.symint(7, expr='s86')  # L_n_
    reader.symint(3, expr='s17')  # s17
    reader.symint(5, expr='s94')  # s94
    buf1 = reader.storage('0855ba376633b1d23fdaa9c7a82cc6754a167c56', 60)
    reader.tensor(buf1, (3, 5), is_leaf=True)  # L_y_
load_args._version = 0

if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='minify',
        save_dir='/home/user/torch_compile_debug/run_2026_11_21_16_43_18_773635-pid_29948/minifier/checkpoints', autocast=False, backend='failing')
