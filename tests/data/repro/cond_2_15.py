
import os
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user'
os.environ['TRITON_CACHE_DIR'] = '/tmp/torchinductor_user/triton'
os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)
os.environ.pop('TORCHDYNAMO_REPRO_LEVEL', None)

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
import math
from math import inf
import torch._inductor.inductor_prims



import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config
torch._dynamo.config.debug_dir_root = '/tmp/torch_compile_debug'
torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'
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
# torch version: 2.15.0+cu132
# torch cuda version: 13.2
# torch git version: d0f2af8b66b20da4baa50644c0cd3f887a2eae2e


# torch.cuda.is_available()==False, no GPU info collected
torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class true_graph_0_0(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1, arg1_1):
        mm = torch.ops.aten.mm.default(arg1_1, arg0_1);  arg1_1 = arg0_1 = None
        relu = torch.ops.aten.relu.default(mm);  mm = None
        sin = torch.ops.aten.sin.default(relu);  relu = None
        add = torch.ops.aten.add.Tensor(sin, 1);  sin = None
        return (add,)


class false_graph_0_1(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1, arg1_1):
        sum_1 = torch.ops.aten.sum.default(arg0_1);  arg0_1 = None
        mul = torch.ops.aten.mul.Tensor(arg1_1, sum_1);  arg1_1 = sum_1 = None
        cos = torch.ops.aten.cos.default(mul);  mul = None
        return (cos,)


class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.true_graph_0 = true_graph_0_0()
        self.false_graph_0 = false_graph_0_1()



    def forward(self, arg0_1, arg1_1):
        mm = torch.ops.aten.mm.default(arg0_1, arg1_1)
        tanh = torch.ops.aten.tanh.default(mm);  mm = None
        add = torch.ops.aten.add.Tensor(tanh, arg0_1);  tanh = arg0_1 = None
        mm_1 = torch.ops.aten.mm.default(add, arg1_1)
        tanh_1 = torch.ops.aten.tanh.default(mm_1);  mm_1 = None
        add_1 = torch.ops.aten.add.Tensor(tanh_1, add);  tanh_1 = add = None
        mm_2 = torch.ops.aten.mm.default(add_1, arg1_1)
        tanh_2 = torch.ops.aten.tanh.default(mm_2);  mm_2 = None
        add_2 = torch.ops.aten.add.Tensor(tanh_2, add_1);  tanh_2 = add_1 = None
        mm_3 = torch.ops.aten.mm.default(add_2, arg1_1)
        tanh_3 = torch.ops.aten.tanh.default(mm_3);  mm_3 = None
        add_3 = torch.ops.aten.add.Tensor(tanh_3, add_2);  tanh_3 = add_2 = None
        sum_1 = torch.ops.aten.sum.default(add_3)
        gt = torch.ops.aten.gt.Scalar(sum_1, 0);  sum_1 = None
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(gt, true_graph_0, false_graph_0, (arg1_1, add_3));  gt = true_graph_0 = false_graph_0 = add_3 = None
        getitem = cond[0];  cond = None
        mm_4 = torch.ops.aten.mm.default(getitem, arg1_1)
        tanh_4 = torch.ops.aten.tanh.default(mm_4);  mm_4 = None
        add_4 = torch.ops.aten.add.Tensor(tanh_4, getitem);  tanh_4 = getitem = None
        mm_5 = torch.ops.aten.mm.default(add_4, arg1_1)
        tanh_5 = torch.ops.aten.tanh.default(mm_5);  mm_5 = None
        add_5 = torch.ops.aten.add.Tensor(tanh_5, add_4);  tanh_5 = add_4 = None
        mm_6 = torch.ops.aten.mm.default(add_5, arg1_1);  arg1_1 = None
        tanh_6 = torch.ops.aten.tanh.default(mm_6);  mm_6 = None
        add_6 = torch.ops.aten.add.Tensor(tanh_6, add_5);  tanh_6 = add_5 = None
        return (add_6,)

def load_args(reader):
    buf0 = reader.storage(None, 512)
    reader.tensor(buf0, (8, 16), is_leaf=True)  # arg0_1
    buf1 = reader.storage(None, 1024)
    reader.tensor(buf1, (16, 16), is_leaf=True)  # arg1_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='minify', save_dir='/tmp/torch_compile_debug/run/minifier/checkpoints', tracing_mode='real', check_str=None, is_inference=True)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir='/tmp/torch_compile_debug/run/minifier/checkpoints', tracing_mode='real', check_str=None, is_inference=True)
        # mod(*args)