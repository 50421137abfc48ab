
import os
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '1'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user'
os.environ['TORCH_COMPILE_DEBUG'] = '1'
os.environ['TORCH_COMPILE_DEBUG_DIR'] = '/tmp'
os.environ['_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR'] = '140660284509216'
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

torch._inductor.config.deterministic = False
torch._inductor.config.triton.store_cubin = False
torch._inductor.config.trace.save_real_tensors = False
torch._inductor.config.inplace_buffers = True
torch._inductor.config.trace.enabled = False
torch._inductor.config.comprehensive_padding = True
torch._functorch.config.functionalize_rng_ops = False
torch._functorch.config.debug_partitioner = False
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True
torch._functorch.config.unlift_effect_tokens = False
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



    def forward(self, primals_1, primals_2, tangents_1):
        expand = torch.ops.aten.expand.default(tangents_1, [4, 8]);  tangents_1 = None
        mul = torch.ops.aten.mul.Tensor(primals_1, primals_2);  primals_2 = None
        add = torch.ops.aten.add.Tensor(mul, 1);  mul = None
        mul_2 = torch.ops.aten.mul.Tensor(add, 0.7071067811865476)
        erf = torch.ops.aten.erf.default(mul_2);  mul_2 = None
        add_1 = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_5 = torch.ops.aten.mul.Tensor(add_1, 0.5);  add_1 = None
        mul_6 = torch.ops.aten.mul.Tensor(add, add)
        mul_7 = torch.ops.aten.mul.Tensor(mul_6, -0.5);  mul_6 = None
        exp = torch.ops.aten.exp.default(mul_7);  mul_7 = None
        mul_8 = torch.ops.aten.mul.Tensor(exp, 0.3989422804014327);  exp = None
        mul_9 = torch.ops.aten.mul.Tensor(add, mul_8);  add = mul_8 = None
        add_3 = torch.ops.aten.add.Tensor(mul_5, mul_9);  mul_5 = mul_9 = None
        mul_10 = torch.ops.aten.mul.Tensor(expand, add_3);  expand = add_3 = None
        mul_11 = torch.ops.aten.mul.Tensor(mul_10, primals_1);  mul_10 = primals_1 = None
        sum_2 = torch.ops.aten.sum.dim_IntList(mul_11, [0], True);  mul_11 = None
        view = torch.ops.aten.view.default(sum_2, [8]);  sum_2 = None
        return (None, view)

def load_args(reader):
    buf0 = reader.storage(None, 128)
    reader.tensor(buf0, (4, 8), is_leaf=True)  # primals_1
    buf1 = reader.storage(None, 32)
    reader.tensor(buf1, (8,), is_leaf=True)  # primals_2
    buf2 = reader.storage(None, 4)
    reader.tensor(buf2, (), is_leaf=True)  # tangents_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir=None, tracing_mode='real', check_str=None)
        # mod(*args)