
import os
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '1'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/torchinductor_user'
os.environ['TORCH_COMPILE_DEBUG_DIR'] = '/tmp'
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

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'
torch._inductor.config.inplace_buffers = True
torch._inductor.config.triton.store_cubin = False
torch._inductor.config.comprehensive_padding = True
torch._functorch.config.functionalize_rng_ops = False
torch._functorch.config.fake_tensor_allow_unsafe_data_ptr_access = True
torch._functorch.config.unlift_effect_tokens = False
torch._functorch.config.selective_decompose = False






from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()



    def forward(self, L_self_modules_fc_parameters_weight_ : torch.nn.parameter.Parameter, L_self_modules_fc_parameters_bias_ : torch.nn.parameter.Parameter, L_x_ : torch.Tensor, L_self_modules_norm_parameters_weight_ : torch.nn.parameter.Parameter, L_self_modules_norm_parameters_bias_ : torch.nn.parameter.Parameter):
        l_self_modules_fc_parameters_weight_ = L_self_modules_fc_parameters_weight_
        l_self_modules_fc_parameters_bias_ = L_self_modules_fc_parameters_bias_
        l_x_ = L_x_
        l_self_modules_norm_parameters_weight_ = L_self_modules_norm_parameters_weight_
        l_self_modules_norm_parameters_bias_ = L_self_modules_norm_parameters_bias_
        linear = torch._C._nn.linear(l_x_, l_self_modules_fc_parameters_weight_, l_self_modules_fc_parameters_bias_);  l_self_modules_fc_parameters_weight_ = l_self_modules_fc_parameters_bias_ = None
        tanh = torch.tanh(linear);  linear = None
        y = tanh * 2;  tanh = None
        layer_norm = torch.nn.functional.layer_norm(y, (8,), l_self_modules_norm_parameters_weight_, l_self_modules_norm_parameters_bias_, 1e-05);  y = l_self_modules_norm_parameters_weight_ = l_self_modules_norm_parameters_bias_ = None
        sigmoid = torch.sigmoid(layer_norm);  layer_norm = None
        y_1 = sigmoid - 0.5;  sigmoid = None
        add = y_1 + l_x_;  y_1 = l_x_ = None
        y_2 = torch.relu(add);  add = None
        cos = torch.cos(y_2);  y_2 = None
        sum_1 = cos.sum(1);  cos = None
        return (sum_1,)


mod = Repro()

def load_args(reader):
    buf0 = reader.storage('a3b0efecf4958e5dc5a55c393fe79602452f04a0', 256)
    reader.tensor(buf0, (8, 8), requires_grad=True, is_leaf=True)  # L_self_modules_fc_parameters_weight_
    buf1 = reader.storage('4b63367d1664e5d29a682fef7b71eaac2f86f65b', 32)
    reader.tensor(buf1, (8,), requires_grad=True, is_leaf=True)  # L_self_modules_fc_parameters_bias_
    buf2 = reader.storage('59f20fa7ef5d208ada6a2a460ee25f4383d12c8c', 128)
    reader.tensor(buf2, (4, 8), is_leaf=True)  # L_x_
    buf3 = reader.storage('470fab5e9f1298296e2e4806513b7b01ff823d36', 32)
    reader.tensor(buf3, (8,), requires_grad=True, is_leaf=True)  # L_self_modules_norm_parameters_weight_
    buf4 = reader.storage('de8a847bff8c343d69b853a215e6ee775ef2ef96', 32)
    reader.tensor(buf4, (8,), requires_grad=True, is_leaf=True)  # L_self_modules_norm_parameters_bias_
load_args._version = 0

if __name__ == '__main__':
    from torch._dynamo.repro.after_dynamo import run_repro
    run_repro(mod, load_args, accuracy=False, command='minify',
        save_dir='/home/user/torch_compile_debug/run_2026_11_21_10_36_09_643067-pid_22876/minifier/checkpoints', autocast=False, backend='inductor')
