s77 = 4


import os
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '1'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user'
os.environ['TORCH_COMPILE_DEBUG_DIR'] = '/tmp'
os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)
os.environ.pop('TORCHDYNAMO_REPRO_LEVEL', None)

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'
torch._inductor.config.comprehensive_padding = True
torch._inductor.config.triton.store_cubin = False
torch._inductor.config.inplace_buffers = True
torch._functorch.config.functionalize_rng_ops = False
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True
torch._functorch.config.unlift_effect_tokens = True
torch._functorch.config.selective_decompose = False



isolate_fails_code_str = None





if "__compile_source__" in globals():
    import inspect as __after_aot_inspect
    import linecache as __after_aot_linecache
    __after_aot_filename = __after_aot_inspect.currentframe().f_code.co_filename
    __after_aot_linecache.cache[__after_aot_filename] = (
        len(__compile_source__),
        None,
        __compile_source__.splitlines(True),
        __after_aot_filename,
    )
# torch version: 2.13.0+cpu
# torch cuda version: None
# torch git version: cf30153c4c131c8164ee7798e5022d810682e2cb


# torch.cuda.is_available()==False, no GPU info collected
torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1):
        permute = torch.ops.aten.permute.default(arg0_1, [1, 0]);  arg0_1 = None
        addmm = torch.ops.aten.addmm.default(arg1_1, arg3_1, permute);  arg1_1 = permute = None
        tanh = torch.ops.aten.tanh.default(addmm);  addmm = None
        mul_4 = torch.ops.aten.mul.Tensor(tanh, 2);  tanh = None
        var_mean = torch.ops.aten.var_mean.correction(mul_4, [1], correction = 0, keepdim = True)
        getitem = var_mean[0]
        getitem_1 = var_mean[1];  var_mean = None
        add_9 = torch.ops.aten.add.Tensor(getitem, 1e-05);  getitem = None
        rsqrt = torch.ops.aten.rsqrt.default(add_9);  add_9 = None
        sub_3 = torch.ops.aten.sub.Tensor(mul_4, getitem_1);  mul_4 = getitem_1 = None
        mul_9 = torch.ops.aten.mul.Tensor(sub_3, rsqrt);  sub_3 = rsqrt = None
        mul_10 = torch.ops.aten.mul.Tensor(mul_9, arg4_1);  mul_9 = arg4_1 = None
        add_10 = torch.ops.aten.add.Tensor(mul_10, arg5_1);  mul_10 = arg5_1 = None
        sigmoid = torch.ops.aten.sigmoid.default(add_10);  add_10 = None
        sub_8 = torch.ops.aten.sub.Tensor(sigmoid, 0.5);  sigmoid = None
        add_26 = torch.ops.aten.add.Tensor(sub_8, arg3_1);  sub_8 = arg3_1 = None
        relu = torch.ops.aten.relu.default(add_26);  add_26 = None
        cos = torch.ops.aten.cos.default(relu);  relu = None
        sum_1 = torch.ops.aten.sum.dim_IntList(cos, [1]);  cos = None
        return (sum_1,)

def load_args(reader):
    buf0 = reader.storage(None, 256)
    reader.tensor(buf0, (8, 8), is_leaf=True)  # arg0_1
    buf1 = reader.storage(None, 32)
    reader.tensor(buf1, (8,), is_leaf=True)  # arg1_1
    reader.symint(4, expr='s77')  # arg2_1
    buf2 = reader.storage(None, 32*s77)
    reader.tensor(buf2, (s77, 8), is_leaf=True)  # arg3_1
    buf3 = reader.storage(None, 32)
    reader.tensor(buf3, (8,), is_leaf=True)  # arg4_1
    buf4 = reader.storage(None, 32)
    reader.tensor(buf4, (8,), is_leaf=True)  # arg5_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='minify', save_dir='/home/user/torch_compile_debug/run_2026_11_21_10_35_22_821850-pid_22011/minifier/checkpoints', tracing_mode='symbolic', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='/home/user/torch_compile_debug/run_2026_11_21_10_35_22_821850-pid_22011/minifier/checkpoints', tracing_mode='symbolic', check_str=None)
        # mod(*args)