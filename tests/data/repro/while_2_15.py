
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
class while_loop_cond_graph_0_0(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1):
        sum_1 = torch.ops.aten.sum.default(arg0_1);  arg0_1 = None
        lt = torch.ops.aten.lt.Scalar(sum_1, 100);  sum_1 = None
        return lt


class while_loop_body_graph_0_1(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, arg0_1):
        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None
        abs_1 = torch.ops.aten.abs.default(relu);  relu = None
        add = torch.ops.aten.add.Tensor(abs_1, 1);  abs_1 = None
        return (add,)


class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.while_loop_cond_graph_0 = while_loop_cond_graph_0_0()
        self.while_loop_body_graph_0 = while_loop_body_graph_0_1()



    def forward(self, arg0_1, arg1_1):
        tanh = torch.ops.aten.tanh.default(arg0_1);  arg0_1 = None
        sum_1 = torch.ops.aten.sum.default(arg1_1);  arg1_1 = None
        add = torch.ops.aten.add.Tensor(tanh, sum_1);  tanh = sum_1 = None
        while_loop_cond_graph_0 = self.while_loop_cond_graph_0
        while_loop_body_graph_0 = self.while_loop_body_graph_0
        while_loop = torch.ops.higher_order.while_loop(while_loop_cond_graph_0, while_loop_body_graph_0, (add,), ());  while_loop_cond_graph_0 = while_loop_body_graph_0 = add = None
        getitem = while_loop[0];  while_loop = None
        tanh_1 = torch.ops.aten.tanh.default(getitem);  getitem = None
        mul = torch.ops.aten.mul.Tensor(tanh_1, 2);  tanh_1 = None
        return (mul,)

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