
import os
os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '1'
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/tmp/pt2bench.29m92p67/cases/cache'
os.environ['_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR'] = '140320329878560'
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
torch._dynamo.config.debug_dir_root = '/tmp/pt2bench.29m92p67/cases/accuracy.d'
torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'accuracy'
torch._inductor.config.inplace_buffers = True
torch._inductor.config.comprehensive_padding = True
torch._inductor.config.deterministic = False
torch._inductor.config.triton.store_cubin = False
torch._functorch.config.functionalize_rng_ops = False
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



    def forward(self, arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1, arg10_1, arg11_1, arg12_1, arg13_1, arg14_1, arg15_1, arg16_1, arg17_1, arg18_1, arg19_1, arg20_1, arg21_1, arg22_1, arg23_1, arg24_1, arg25_1, arg26_1):
        var_mean = torch.ops.aten.var_mean.correction(arg2_1, [1], correction = 0, keepdim = True)
        getitem = var_mean[0]
        getitem_1 = var_mean[1];  var_mean = None
        add = torch.ops.aten.add.Tensor(getitem, 1e-05);  getitem = None
        rsqrt = torch.ops.aten.rsqrt.default(add);  add = None
        sub = torch.ops.aten.sub.Tensor(arg2_1, getitem_1);  getitem_1 = None
        mul = torch.ops.aten.mul.Tensor(sub, rsqrt);  sub = rsqrt = None
        mul_1 = torch.ops.aten.mul.Tensor(mul, arg0_1);  mul = None
        add_1 = torch.ops.aten.add.Tensor(mul_1, arg1_1);  mul_1 = None
        permute = torch.ops.aten.permute.default(arg3_1, [1, 0]);  arg3_1 = None
        addmm = torch.ops.aten.addmm.default(arg4_1, add_1, permute);  arg4_1 = add_1 = permute = None
        tanh = torch.ops.aten.tanh.default(addmm);  addmm = None
        sigmoid = torch.ops.aten.sigmoid.default(tanh)
        mul_2 = torch.ops.aten.mul.Tensor(sigmoid, tanh);  sigmoid = tanh = None
        add_2 = torch.ops.aten.add.Tensor(arg2_1, mul_2);  arg2_1 = mul_2 = None
        var_mean_1 = torch.ops.aten.var_mean.correction(add_2, [1], correction = 0, keepdim = True)
        getitem_2 = var_mean_1[0]
        getitem_3 = var_mean_1[1];  var_mean_1 = None
        add_3 = torch.ops.aten.add.Tensor(getitem_2, 1e-05);  getitem_2 = None
        rsqrt_1 = torch.ops.aten.rsqrt.default(add_3);  add_3 = None
        sub_1 = torch.ops.aten.sub.Tensor(add_2, getitem_3);  getitem_3 = None
        mul_3 = torch.ops.aten.mul.Tensor(sub_1, rsqrt_1);  sub_1 = rsqrt_1 = None
        mul_4 = torch.ops.aten.mul.Tensor(mul_3, arg0_1);  mul_3 = None
        add_4 = torch.ops.aten.add.Tensor(mul_4, arg1_1);  mul_4 = None
        permute_1 = torch.ops.aten.permute.default(arg5_1, [1, 0]);  arg5_1 = None
        addmm_1 = torch.ops.aten.addmm.default(arg6_1, add_4, permute_1);  arg6_1 = add_4 = permute_1 = None
        tanh_1 = torch.ops.aten.tanh.default(addmm_1);  addmm_1 = None
        sigmoid_1 = torch.ops.aten.sigmoid.default(tanh_1)
        mul_5 = torch.ops.aten.mul.Tensor(sigmoid_1, tanh_1);  sigmoid_1 = tanh_1 = None
        add_5 = torch.ops.aten.add.Tensor(add_2, mul_5);  add_2 = mul_5 = None
        var_mean_2 = torch.ops.aten.var_mean.correction(add_5, [1], correction = 0, keepdim = True)
        getitem_4 = var_mean_2[0]
        getitem_5 = var_mean_2[1];  var_mean_2 = None
        add_6 = torch.ops.aten.add.Tensor(getitem_4, 1e-05);  getitem_4 = None
        rsqrt_2 = torch.ops.aten.rsqrt.default(add_6);  add_6 = None
        sub_2 = torch.ops.aten.sub.Tensor(add_5, getitem_5);  getitem_5 = None
        mul_6 = torch.ops.aten.mul.Tensor(sub_2, rsqrt_2);  sub_2 = rsqrt_2 = None
        mul_7 = torch.ops.aten.mul.Tensor(mul_6, arg0_1);  mul_6 = None
        add_7 = torch.ops.aten.add.Tensor(mul_7, arg1_1);  mul_7 = None
        permute_2 = torch.ops.aten.permute.default(arg7_1, [1, 0]);  arg7_1 = None
        addmm_2 = torch.ops.aten.addmm.default(arg8_1, add_7, permute_2);  arg8_1 = add_7 = permute_2 = None
        tanh_2 = torch.ops.aten.tanh.default(addmm_2);  addmm_2 = None
        sigmoid_2 = torch.ops.aten.sigmoid.default(tanh_2)
        mul_8 = torch.ops.aten.mul.Tensor(sigmoid_2, tanh_2);  sigmoid_2 = tanh_2 = None
        add_8 = torch.ops.aten.add.Tensor(add_5, mul_8);  add_5 = mul_8 = None
        var_mean_3 = torch.ops.aten.var_mean.correction(add_8, [1], correction = 0, keepdim = True)
        getitem_6 = var_mean_3[0]
        getitem_7 = var_mean_3[1];  var_mean_3 = None
        add_9 = torch.ops.aten.add.Tensor(getitem_6, 1e-05);  getitem_6 = None
        rsqrt_3 = torch.ops.aten.rsqrt.default(add_9);  add_9 = None
        sub_3 = torch.ops.aten.sub.Tensor(add_8, getitem_7);  getitem_7 = None
        mul_9 = torch.ops.aten.mul.Tensor(sub_3, rsqrt_3);  sub_3 = rsqrt_3 = None
        mul_10 = torch.ops.aten.mul.Tensor(mul_9, arg0_1);  mul_9 = None
        add_10 = torch.ops.aten.add.Tensor(mul_10, arg1_1);  mul_10 = None
        permute_3 = torch.ops.aten.permute.default(arg9_1, [1, 0]);  arg9_1 = None
        addmm_3 = torch.ops.aten.addmm.default(arg10_1, add_10, permute_3);  arg10_1 = add_10 = permute_3 = None
        tanh_3 = torch.ops.aten.tanh.default(addmm_3);  addmm_3 = None
        sigmoid_3 = torch.ops.aten.sigmoid.default(tanh_3)
        mul_11 = torch.ops.aten.mul.Tensor(sigmoid_3, tanh_3);  sigmoid_3 = tanh_3 = None
        add_11 = torch.ops.aten.add.Tensor(add_8, mul_11);  add_8 = mul_11 = None
        var_mean_4 = torch.ops.aten.var_mean.correction(add_11, [1], correction = 0, keepdim = True)
        getitem_8 = var_mean_4[0]
        getitem_9 = var_mean_4[1];  var_mean_4 = None
        add_12 = torch.ops.aten.add.Tensor(getitem_8, 1e-05);  getitem_8 = None
        rsqrt_4 = torch.ops.aten.rsqrt.default(add_12);  add_12 = None
        sub_4 = torch.ops.aten.sub.Tensor(add_11, getitem_9);  getitem_9 = None
        mul_12 = torch.ops.aten.mul.Tensor(sub_4, rsqrt_4);  sub_4 = rsqrt_4 = None
        mul_13 = torch.ops.aten.mul.Tensor(mul_12, arg0_1);  mul_12 = None
        add_13 = torch.ops.aten.add.Tensor(mul_13, arg1_1);  mul_13 = None
        permute_4 = torch.ops.aten.permute.default(arg11_1, [1, 0]);  arg11_1 = None
        addmm_4 = torch.ops.aten.addmm.default(arg12_1, add_13, permute_4);  arg12_1 = add_13 = permute_4 = None
        tanh_4 = torch.ops.aten.tanh.default(addmm_4);  addmm_4 = None
        sigmoid_4 = torch.ops.aten.sigmoid.default(tanh_4)
        mul_14 = torch.ops.aten.mul.Tensor(sigmoid_4, tanh_4);  sigmoid_4 = tanh_4 = None
        add_14 = torch.ops.aten.add.Tensor(add_11, mul_14);  add_11 = mul_14 = None
        var_mean_5 = torch.ops.aten.var_mean.correction(add_14, [1], correction = 0, keepdim = True)
        getitem_10 = var_mean_5[0]
        getitem_11 = var_mean_5[1];  var_mean_5 = None
        add_15 = torch.ops.aten.add.Tensor(getitem_10, 1e-05);  getitem_10 = None
        rsqrt_5 = torch.ops.aten.rsqrt.default(add_15);  add_15 = None
        sub_5 = torch.ops.aten.sub.Tensor(add_14, getitem_11);  getitem_11 = None
        mul_15 = torch.ops.aten.mul.Tensor(sub_5, rsqrt_5);  sub_5 = rsqrt_5 = None
        mul_16 = torch.ops.aten.mul.Tensor(mul_15, arg0_1);  mul_15 = None
        add_16 = torch.ops.aten.add.Tensor(mul_16, arg1_1);  mul_16 = None
        permute_5 = torch.ops.aten.permute.default(arg13_1, [1, 0]);  arg13_1 = None
        addmm_5 = torch.ops.aten.addmm.default(arg14_1, add_16, permute_5);  arg14_1 = add_16 = permute_5 = None
        tanh_5 = torch.ops.aten.tanh.default(addmm_5);  addmm_5 = None
        sigmoid_5 = torch.ops.aten.sigmoid.default(tanh_5)
        mul_17 = torch.ops.aten.mul.Tensor(sigmoid_5, tanh_5);  sigmoid_5 = tanh_5 = None
        add_17 = torch.ops.aten.add.Tensor(add_14, mul_17);  add_14 = mul_17 = None
        var_mean_6 = torch.ops.aten.var_mean.correction(add_17, [1], correction = 0, keepdim = True)
        getitem_12 = var_mean_6[0]
        getitem_13 = var_mean_6[1];  var_mean_6 = None
        add_18 = torch.ops.aten.add.Tensor(getitem_12, 1e-05);  getitem_12 = None
        rsqrt_6 = torch.ops.aten.rsqrt.default(add_18);  add_18 = None
        sub_6 = torch.ops.aten.sub.Tensor(add_17, getitem_13);  getitem_13 = None
        mul_18 = torch.ops.aten.mul.Tensor(sub_6, rsqrt_6);  sub_6 = rsqrt_6 = None
        mul_19 = torch.ops.aten.mul.Tensor(mul_18, arg0_1);  mul_18 = None
        add_19 = torch.ops.aten.add.Tensor(mul_19, arg1_1);  mul_19 = None
        permute_6 = torch.ops.aten.permute.default(arg15_1, [1, 0]);  arg15_1 = None
        addmm_6 = torch.ops.aten.addmm.default(arg16_1, add_19, permute_6);  arg16_1 = add_19 = permute_6 = None
        tanh_6 = torch.ops.aten.tanh.default(addmm_6);  addmm_6 = None
        sigmoid_6 = torch.ops.aten.sigmoid.default(tanh_6)
        mul_20 = torch.ops.aten.mul.Tensor(sigmoid_6, tanh_6);  sigmoid_6 = tanh_6 = None
        add_20 = torch.ops.aten.add.Tensor(add_17, mul_20);  add_17 = mul_20 = None
        var_mean_7 = torch.ops.aten.var_mean.correction(add_20, [1], correction = 0, keepdim = True)
        getitem_14 = var_mean_7[0]
        getitem_15 = var_mean_7[1];  var_mean_7 = None
        add_21 = torch.ops.aten.add.Tensor(getitem_14, 1e-05);  getitem_14 = None
        rsqrt_7 = torch.ops.aten.rsqrt.default(add_21);  add_21 = None
        sub_7 = torch.ops.aten.sub.Tensor(add_20, getitem_15);  getitem_15 = None
        mul_21 = torch.ops.aten.mul.Tensor(sub_7, rsqrt_7);  sub_7 = rsqrt_7 = None
        mul_22 = torch.ops.aten.mul.Tensor(mul_21, arg0_1);  mul_21 = None
        add_22 = torch.ops.aten.add.Tensor(mul_22, arg1_1);  mul_22 = None
        permute_7 = torch.ops.aten.permute.default(arg17_1, [1, 0]);  arg17_1 = None
        addmm_7 = torch.ops.aten.addmm.default(arg18_1, add_22, permute_7);  arg18_1 = add_22 = permute_7 = None
        tanh_7 = torch.ops.aten.tanh.default(addmm_7);  addmm_7 = None
        sigmoid_7 = torch.ops.aten.sigmoid.default(tanh_7)
        mul_23 = torch.ops.aten.mul.Tensor(sigmoid_7, tanh_7);  sigmoid_7 = tanh_7 = None
        add_23 = torch.ops.aten.add.Tensor(add_20, mul_23);  add_20 = mul_23 = None
        var_mean_8 = torch.ops.aten.var_mean.correction(add_23, [1], correction = 0, keepdim = True)
        getitem_16 = var_mean_8[0]
        getitem_17 = var_mean_8[1];  var_mean_8 = None
        add_24 = torch.ops.aten.add.Tensor(getitem_16, 1e-05);  getitem_16 = None
        rsqrt_8 = torch.ops.aten.rsqrt.default(add_24);  add_24 = None
        sub_8 = torch.ops.aten.sub.Tensor(add_23, getitem_17);  getitem_17 = None
        mul_24 = torch.ops.aten.mul.Tensor(sub_8, rsqrt_8);  sub_8 = rsqrt_8 = None
        mul_25 = torch.ops.aten.mul.Tensor(mul_24, arg0_1);  mul_24 = None
        add_25 = torch.ops.aten.add.Tensor(mul_25, arg1_1);  mul_25 = None
        permute_8 = torch.ops.aten.permute.default(arg19_1, [1, 0]);  arg19_1 = None
        addmm_8 = torch.ops.aten.addmm.default(arg20_1, add_25, permute_8);  arg20_1 = add_25 = permute_8 = None
        tanh_8 = torch.ops.aten.tanh.default(addmm_8);  addmm_8 = None
        sigmoid_8 = torch.ops.aten.sigmoid.default(tanh_8)
        mul_26 = torch.ops.aten.mul.Tensor(sigmoid_8, tanh_8);  sigmoid_8 = tanh_8 = None
        add_26 = torch.ops.aten.add.Tensor(add_23, mul_26);  add_23 = mul_26 = None
        relu = torch.ops.aten.relu.default(add_26)
        add_27 = torch.ops.aten.add.Tensor(relu, add_26);  relu = add_26 = None
        var_mean_9 = torch.ops.aten.var_mean.correction(add_27, [1], correction = 0, keepdim = True)
        getitem_18 = var_mean_9[0]
        getitem_19 = var_mean_9[1];  var_mean_9 = None
        add_28 = torch.ops.aten.add.Tensor(getitem_18, 1e-05);  getitem_18 = None
        rsqrt_9 = torch.ops.aten.rsqrt.default(add_28);  add_28 = None
        sub_9 = torch.ops.aten.sub.Tensor(add_27, getitem_19);  getitem_19 = None
        mul_27 = torch.ops.aten.mul.Tensor(sub_9, rsqrt_9);  sub_9 = rsqrt_9 = None
        mul_28 = torch.ops.aten.mul.Tensor(mul_27, arg0_1);  mul_27 = None
        add_29 = torch.ops.aten.add.Tensor(mul_28, arg1_1);  mul_28 = None
        permute_9 = torch.ops.aten.permute.default(arg21_1, [1, 0]);  arg21_1 = None
        addmm_9 = torch.ops.aten.addmm.default(arg22_1, add_29, permute_9);  arg22_1 = add_29 = permute_9 = None
        tanh_9 = torch.ops.aten.tanh.default(addmm_9);  addmm_9 = None
        sigmoid_9 = torch.ops.aten.sigmoid.default(tanh_9)
        mul_29 = torch.ops.aten.mul.Tensor(sigmoid_9, tanh_9);  sigmoid_9 = tanh_9 = None
        add_30 = torch.ops.aten.add.Tensor(add_27, mul_29);  add_27 = mul_29 = None
        var_mean_10 = torch.ops.aten.var_mean.correction(add_30, [1], correction = 0, keepdim = True)
        getitem_20 = var_mean_10[0]
        getitem_21 = var_mean_10[1];  var_mean_10 = None
        add_31 = torch.ops.aten.add.Tensor(getitem_20, 1e-05);  getitem_20 = None
        rsqrt_10 = torch.ops.aten.rsqrt.default(add_31);  add_31 = None
        sub_10 = torch.ops.aten.sub.Tensor(add_30, getitem_21);  getitem_21 = None
        mul_30 = torch.ops.aten.mul.Tensor(sub_10, rsqrt_10);  sub_10 = rsqrt_10 = None
        mul_31 = torch.ops.aten.mul.Tensor(mul_30, arg0_1);  mul_30 = None
        add_32 = torch.ops.aten.add.Tensor(mul_31, arg1_1);  mul_31 = None
        permute_10 = torch.ops.aten.permute.default(arg23_1, [1, 0]);  arg23_1 = None
        addmm_10 = torch.ops.aten.addmm.default(arg24_1, add_32, permute_10);  arg24_1 = add_32 = permute_10 = None
        tanh_10 = torch.ops.aten.tanh.default(addmm_10);  addmm_10 = None
        sigmoid_10 = torch.ops.aten.sigmoid.default(tanh_10)
        mul_32 = torch.ops.aten.mul.Tensor(sigmoid_10, tanh_10);  sigmoid_10 = tanh_10 = None
        add_33 = torch.ops.aten.add.Tensor(add_30, mul_32);  add_30 = mul_32 = None
        var_mean_11 = torch.ops.aten.var_mean.correction(add_33, [1], correction = 0, keepdim = True)
        getitem_22 = var_mean_11[0]
        getitem_23 = var_mean_11[1];  var_mean_11 = None
        add_34 = torch.ops.aten.add.Tensor(getitem_22, 1e-05);  getitem_22 = None
        rsqrt_11 = torch.ops.aten.rsqrt.default(add_34);  add_34 = None
        sub_11 = torch.ops.aten.sub.Tensor(add_33, getitem_23);  getitem_23 = None
        mul_33 = torch.ops.aten.mul.Tensor(sub_11, rsqrt_11);  sub_11 = rsqrt_11 = None
        mul_34 = torch.ops.aten.mul.Tensor(mul_33, arg0_1);  mul_33 = arg0_1 = None
        add_35 = torch.ops.aten.add.Tensor(mul_34, arg1_1);  mul_34 = arg1_1 = None
        permute_11 = torch.ops.aten.permute.default(arg25_1, [1, 0]);  arg25_1 = None
        addmm_11 = torch.ops.aten.addmm.default(arg26_1, add_35, permute_11);  arg26_1 = add_35 = permute_11 = None
        tanh_11 = torch.ops.aten.tanh.default(addmm_11);  addmm_11 = None
        sigmoid_11 = torch.ops.aten.sigmoid.default(tanh_11)
        mul_35 = torch.ops.aten.mul.Tensor(sigmoid_11, tanh_11);  sigmoid_11 = tanh_11 = None
        add_36 = torch.ops.aten.add.Tensor(add_33, mul_35);  add_33 = mul_35 = None
        sum_1 = torch.ops.aten.sum.dim_IntList(add_36, [-1]);  add_36 = None
        return (sum_1,)

def load_args(reader):
    buf0 = reader.storage('e0987cb184f589f5d16cb0ec3604fcc793f2e005', 64)
    reader.tensor(buf0, (16,), requires_grad=True, is_leaf=True)  # arg0_1
    buf1 = reader.storage('3f187cb133f589f5136cb0ec5c84fcc70cf2e005', 64)
    reader.tensor(buf1, (16,), requires_grad=True, is_leaf=True)  # arg1_1
    buf2 = reader.storage('0d2a7578c8adcab3b7b89ff832a81a27b7c5503e', 512)
    reader.tensor(buf2, (8, 16), is_leaf=True)  # arg2_1
    buf3 = reader.storage('36d2ba1edf67063f856dd03efb5b2a075abe3fd9', 1024)
    reader.tensor(buf3, (16, 16), requires_grad=True, is_leaf=True)  # arg3_1
    buf4 = reader.storage('5b78d3b92f4f51c3fc2ce6b2f673ad95094ad913', 64)
    reader.tensor(buf4, (16,), requires_grad=True, is_leaf=True)  # arg4_1
    buf5 = reader.storage('1ef5981c2c88902914ef528a66fd811d2eb03ad7', 1024)
    reader.tensor(buf5, (16, 16), requires_grad=True, is_leaf=True)  # arg5_1
    buf6 = reader.storage('afb879b12d69ada5ecdcce7ec1911047b18427eb', 64)
    reader.tensor(buf6, (16,), requires_grad=True, is_leaf=True)  # arg6_1
    buf7 = reader.storage('f161fcf49e34cacfe8d07c96e782cc37ef8d146b', 1024)
    reader.tensor(buf7, (16, 16), requires_grad=True, is_leaf=True)  # arg7_1
    buf8 = reader.storage('75305223144f9d0ba4f5d47418db6cd3cdbe95c5', 64)
    reader.tensor(buf8, (16,), requires_grad=True, is_leaf=True)  # arg8_1
    buf9 = reader.storage('fcb72e92906ffc171bc07092c9b596d72a22c95d', 1024)
    reader.tensor(buf9, (16, 16), requires_grad=True, is_leaf=True)  # arg9_1
    buf10 = reader.storage('ff6f691f0697974357e72e78dc48f3530e0bdf8f', 64)
    reader.tensor(buf10, (16,), requires_grad=True, is_leaf=True)  # arg10_1
    buf11 = reader.storage('092509fc5849bf5964582f7a5ac5fab3104f4685', 1024)
    reader.tensor(buf11, (16, 16), requires_grad=True, is_leaf=True)  # arg11_1
    buf12 = reader.storage('427f30094a04baf7c3a7e668453693250d68fb35', 64)
    reader.tensor(buf12, (16,), requires_grad=True, is_leaf=True)  # arg12_1
    buf13 = reader.storage('3071d3be1f7ea85f4f64faec09c0a05baa5609df', 1024)
    reader.tensor(buf13, (16, 16), requires_grad=True, is_leaf=True)  # arg13_1
    buf14 = reader.storage('d75c0c4370e912a52ea089c01ebb912b805a04ff', 64)
    reader.tensor(buf14, (16,), requires_grad=True, is_leaf=True)  # arg14_1
    buf15 = reader.storage('394ae19c2768a10bbf73c996e36c7ba3ce767d01', 1024)
    reader.tensor(buf15, (16, 16), requires_grad=True, is_leaf=True)  # arg15_1
    buf16 = reader.storage('ede204db7c6c8add4840626c75d82787b53ebc99', 64)
    reader.tensor(buf16, (16,), requires_grad=True, is_leaf=True)  # arg16_1
    buf17 = reader.storage('943e475639aa68b395aa29dc23db049d22ce06eb', 1024)
    reader.tensor(buf17, (16, 16), requires_grad=True, is_leaf=True)  # arg17_1
    buf18 = reader.storage('c4532bd3498aee9f5d8542dc275ab313c0d022d7', 64)
    reader.tensor(buf18, (16,), requires_grad=True, is_leaf=True)  # arg18_1
    buf19 = reader.storage('b43db8a28497aeab228d118a7df05cb949f33527', 1024)
    reader.tensor(buf19, (16, 16), requires_grad=True, is_leaf=True)  # arg19_1
    buf20 = reader.storage('191ee27d04186ddb3aef3ed2c6f025c76ed2b755', 64)
    reader.tensor(buf20, (16,), requires_grad=True, is_leaf=True)  # arg20_1
    buf21 = reader.storage('fb0abcf440b0b07db944fd883c272a955585a34b', 1024)
    reader.tensor(buf21, (16, 16), requires_grad=True, is_leaf=True)  # arg21_1
    buf22 = reader.storage('78ade687642efce917c431e02c84ce239cbf92e3', 64)
    reader.tensor(buf22, (16,), requires_grad=True, is_leaf=True)  # arg22_1
    buf23 = reader.storage('787444789118888bac9a87ac28bf6df92ca9c82d', 1024)
    reader.tensor(buf23, (16, 16), requires_grad=True, is_leaf=True)  # arg23_1
    buf24 = reader.storage('a24c8a57375b8fedbefa370631d268abcd553d05', 64)
    reader.tensor(buf24, (16,), requires_grad=True, is_leaf=True)  # arg24_1
    buf25 = reader.storage('fb7df53c60367bcf1e6dd1d8b7d1bcbf67019c35', 1024)
    reader.tensor(buf25, (16, 16), requires_grad=True, is_leaf=True)  # arg25_1
    buf26 = reader.storage('f8edda599edbafa54f5d551e739dd4c357d206bd', 64)
    reader.tensor(buf26, (16,), requires_grad=True, is_leaf=True)  # arg26_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=True, command='run', save_dir='/tmp/pt2bench.29m92p67/cases/accuracy.d/run_2026_11_22_15_43_46_487167-pid_17643/minifier/checkpoints', tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=True, command='get_args', save_dir='/tmp/pt2bench.29m92p67/cases/accuracy.d/run_2026_11_22_15_43_46_487167-pid_17643/minifier/checkpoints', tracing_mode='real', check_str=None)
        # mod(*args)