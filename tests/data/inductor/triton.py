# AOT ID: ['0_inference']
import torch
from torch._inductor.async_compile import AsyncCompile
aten = torch.ops.aten
async_compile = AsyncCompile()


# kernel path: /tmp/torchinductor_user/3x/c3xdemo.py
# Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.sin, aten.add]
# Source node to ATen node mapping:
#   y => sin
#   z => add
# Graph fragment:
#   %arg0_1 : Tensor "f32[64][1]cuda:0" = PlaceHolder[target=arg0_1]
#   %sin : Tensor "f32[64][1]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%arg0_1,), kwargs = {})
#   %add : Tensor "f32[64][1]cuda:0"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%sin, 1), kwargs = {})
#   return %add
triton_poi_fused_add_sin_0 = async_compile.triton('triton_poi_fused_add_sin_0', '''
import triton
import triton.language as tl
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math

@triton.jit
def triton_poi_fused_add_sin_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 64
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl_math.sin(tmp0)
    tmp2 = tl.full([1], 1.0, tl.float32)
    tmp3 = tmp1 + tmp2
    tl.store(out_ptr0 + (x0), tmp3, xmask)
''', device_str='cuda')


# kernel path: /tmp/torchinductor_user/5a/c5ademo.py
# Topologically Sorted Source Nodes: [w], Original ATen: [aten.sum]
# Source node to ATen node mapping:
#   w => sum_1
# Graph fragment:
#   %add : Tensor "f32[64][1]cuda:0" = PlaceHolder[target=add]
#   %sum_1 : Tensor "f32[][]cuda:0"[num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%add,), kwargs = {})
#   return %sum_1
triton_per_fused_sum_1 = async_compile.triton('triton_per_fused_sum_1', '''
import triton
import triton.language as tl

@triton.jit
def triton_per_fused_sum_1(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_0 = r0_index
    tmp0 = tl.load(in_ptr0 + (r0_0), None)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.sum(tmp1, 1)[:, None]
    tl.store(out_ptr0 + (tl.full([XBLOCK, 1], 0, tl.int32)), tmp3, None)
''', device_str='cuda')


async_compile.wait(globals())
del async_compile

class Runner:
    def call(self, args):
        arg0_1, arg1_1 = args
        args.clear()
        with torch.cuda._DeviceGuard(0):
            torch.cuda.set_device(0)
            buf0 = empty_strided_cuda((64, ), (1, ), torch.float32)
            # Topologically Sorted Source Nodes: [y, z], Original ATen: [aten.sin, aten.add]
            stream0 = get_raw_stream(0)
            triton_poi_fused_add_sin_0.run(arg0_1, buf0, 64, stream=stream0)
            del arg0_1
            buf1 = empty_strided_cuda((), (), torch.float32)
            # Topologically Sorted Source Nodes: [w], Original ATen: [aten.sum]
            stream0 = get_raw_stream(0)
            triton_per_fused_sum_1.run(buf0, buf1, 1, 64, stream=stream0)
            buf2 = empty_strided_cuda((64, 8), (8, 1), torch.float32)
            # Topologically Sorted Source Nodes: [v], Original ATen: [aten.mm]
            extern_kernels.mm(reinterpret_tensor(buf0, (64, 1), (1, 1), 0),
                              arg1_1, out=buf2)
        return (buf1, buf2, )
