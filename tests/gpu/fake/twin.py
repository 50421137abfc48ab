"""What the twins of the acceptance run's programs are made of (scripts/gpu-accept --fake): graphs of torch.compile in the form of Inductor's texts, whose
Triton kernels are PTX that the fake driver runs, late, on the stream that is torch's current one (tests/lib/jittorch, tests/lib/fakecuda.h).

    f = graph("0_inference", ["arg0_1"], [Kernel("triton_poi_fused_log_0", "log", "arg0_1", "buf0")], ["buf0"])
    print(total(f(tensor([1.0, 2.0]))[0]))

PT2_PLANT=N: `planted(N)` is true, and the scene has the fault that check N must find."""
import ctypes
import math
import os
import struct
import sys

import torch
import torch._inductor.compile_fx as compile_fx
from torch._inductor import output_code
from torch._inductor.runtime.compile_tasks import _reload_python_module

DTYPES = {"f16": (5, 2), "f32": (6, 4), "f64": (7, 8), "bf16": (15, 2), "f8e4m3": (24, 1), "b8": (11, 1), "i64": (4, 8)}

torch.Tensor(0.0)  # starts the driver
driver = torch._Device.driver
# Device functions over f32: what `x` becomes. "far" writes it 256 GiB behind the tensor.
OPERATIONS = {
    "log": "lg2.approx.f32 x, x; mul.f32 x, x, 0f3f317218;",
    "rsqrt": "rsqrt.approx.f32 x, x;",
    "half": "mul.f32 x, x, 0f3f000000;",
    "tanh": "tanh.approx.f32 x, x;",
    "copy": "",
    "far": "",
}
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{{
.reg .pred ok; .reg .u32 at, t, b, n; .reg .u64 from, to, wide; .reg .{type} x;
ld.param.u64 from, [p0]; ld.param.u64 to, [p1]; ld.param.u32 n, [p2];
mov.u32 t, %tid.x; mov.u32 b, %ctaid.x; mad.lo.u32 at, b, 128, t;
setp.ge.u32 ok, at, n;
@ok bra end;
mul.wide.u32 wide, at, {size};
add.u64 from, from, wide; add.u64 to, to, wide;
{far}
ld.global.{type} x, [from];
{operation}
st.global.{type} [to], x;
end: ret;
}}
"""


def planted(number):
    return os.environ.get("PT2_PLANT") == str(number)


def check(rc):
    if rc:
        raise RuntimeError("CUDA error: an illegal memory access was encountered" if rc == 700 else f"CUDA error: {rc}")


def now():
    return getattr(torch._Device, "now", None)


def row_major(sizes):
    return [math.prod(sizes[i + 1:]) for i in range(len(sizes))]


class Tensor(torch.Tensor):
    """Device memory with a dtype and a shape. It is not freed: the processes are short."""
    __slots__ = ("at", "bytes", "n", "dtype", "sizes", "strides")

    def __init__(self, sizes, dtype="f32", strides=None):
        number, size = DTYPES[dtype]
        self.sizes, self.strides = list(sizes), list(strides or row_major(sizes))
        self.n, self.dtype, self.at = math.prod(sizes), dtype, ctypes.c_uint64()
        self.bytes = self.n * size
        mode = ctypes.c_int(2)  # as torch's allocator, also during a capture
        driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        check(driver.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(self.bytes)))
        driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        four = [(v + [0] * 4)[:4] for v in (self.sizes, self.strides)]
        self.impl = struct.pack("<Qqq4q4qqq", self.at.value, len(sizes), number, *four[0], *four[1], self.bytes, 1)
        self.memory = None

    def write(self, data):
        check(driver.cuMemcpyHtoD_v2(self.at, data, ctypes.c_size_t(len(data))))
        return self

    def read(self):
        wait()
        data = ctypes.create_string_buffer(self.bytes)
        check(driver.cuMemcpyDtoH_v2(data, self.at, ctypes.c_size_t(self.bytes)))
        return data.raw

    def tolist(self):
        return list(struct.unpack(f"<{self.n}f", self.read()))


def tensor(values, sizes=None, strides=None):
    return Tensor(sizes or [len(values)], strides=strides).write(struct.pack(f"<{len(values)}f", *values))


def number(value):
    """On the host, of no dimension: torch's counters of steps."""
    t = torch.Tensor(value, on_cpu=True)
    t.shaped(6, (), ())
    return t


def wait():
    check(driver.cuCtxSynchronize())


def total(t):
    return sum(t.tolist())


loaded = {}


def launch(name, operation, source, to, stream):
    """A kernel called `name` of one thread for each element of f32, for each 8 bytes if it copies."""
    if name not in loaded:
        kind = ("u64", 8) if operation == "copy" else ("f32", 4)
        text = PTX.format(name=name, type=kind[0], size=kind[1], operation=OPERATIONS[operation].replace("; ", ";\n"),
                          far="mov.u64 wide, 0x4000000000; add.u64 to, to, wide;" if operation == "far" else "")
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(driver.cuModuleLoadData(ctypes.byref(module), text.encode()))
        check(driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        loaded[name] = function
    n = to.bytes // (8 if operation == "copy" else 4)
    values = [ctypes.c_uint64(source.at.value), ctypes.c_uint64(to.at.value), ctypes.c_uint32(n)]
    params = (ctypes.c_void_p * 3)(*[ctypes.addressof(v) for v in values])
    check(driver.cuLaunchKernel(loaded[name], (n + 127) // 128, 1, 1, 128, 1, 1, 0, stream, params, None))


class _Triton:
    def __init__(self, name):
        self.name, _, self.operation = name.rpartition(":")

    def run(self, source, to, *numbers, stream=None):
        launch(self.name, self.operation, source, to, stream)


class AsyncCompile:
    def triton(self, name, source, device_str="cuda"):
        return _Triton(name + ":" + source.split("#")[-1].strip())

    def wait(self, scope):
        pass


class extern_kernels:
    @staticmethod
    def mm(a, b, out):
        launch("gemm", "copy", a, out, now())


def get_raw_stream(device):
    return now()


def empty_strided_cuda(sizes, strides, dtype):
    return Tensor(sizes, dtype, strides)


class Kernel:
    """name: of the variable; scan: with a helper before it, as Inductor writes scans; code: the line of the program it comes from; number: a
    tensor on the host whose number it is given."""

    def __init__(self, name, operation, source, to, sizes=(8,), dtype="f32", strides=None, scan=False, code="y = f(x)", number=None):
        self.name, self.operation, self.source, self.to, self.sizes, self.dtype = name, operation, source, to, sizes, dtype
        self.strides, self.scan, self.code, self.number = strides or row_major(sizes), scan, code, number


HEAD = """# AOT ID: ['{title}']
import torch
from twin import AsyncCompile, empty_strided_cuda, extern_kernels, get_raw_stream
async_compile = AsyncCompile()
"""
TRITON = """
{name} = async_compile.triton('{name}', '''
import triton
import triton.language as tl
{helper}
@triton_heuristics.pointwise(
    triton_meta={{'signature': {{'in_ptr0': '*fp32', 'out_ptr0': '*fp32', {type}'xnumel': 'i32', 'XBLOCK': 'constexpr'}}}},
    inductor_meta={{'kernel_name': '{name}', 'mutated_arg_names': []}}
)
@triton.jit
def {name}(in_ptr0, out_ptr0, {number}xnumel, XBLOCK : tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + (xindex), xmask){scan}
    tl.store(out_ptr0 + (xindex), tmp0, xmask)  # {operation}
''', device_str='cuda')
"""
HELPER = """
@triton.jit
def _triton_helper_fn_add0(arg0_0, arg1_0):
    return arg0_0 + arg1_0
"""
SCAN = "\n    tmp0, = tl.associative_scan((tmp0,), 0, _triton_helper_fn_add0)"
CALL = """
async_compile.wait(globals())
del async_compile

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        {inputs}, = args
        args.clear()
        with torch.cuda._DeviceGuard(0):
"""
TAIL = """        return ({outputs}, )

runner = Runner(partitions=[])
call = runner.call
"""


class _Guard:
    def __init__(self, device):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


if not hasattr(torch, "cuda"):
    torch.cuda = type("cuda", (), {})
torch.cuda._DeviceGuard = _Guard
sys.modules.setdefault("twin", sys.modules[__name__])


def graph(title, inputs, calls, outputs, graphs=False, sources=()):
    """A compiled function: its text is written where the program runs, and goes the way of torch's. graphs: mode="reduce-overhead"."""
    text, lines = HEAD.format(title=title), []
    for k in calls:
        if k.name != "extern_kernels.mm":
            text += TRITON.format(name=k.name, operation=k.operation, helper=HELPER if k.scan else "", scan=SCAN if k.scan else "",
                                  number="in_ptr1, " if k.number else "", type="'in_ptr1': 'fp32', " if k.number else "")
    text += CALL.format(inputs=", ".join(inputs))
    for k in calls:
        if k.to not in inputs:
            text += f"            {k.to} = empty_strided_cuda({tuple(k.sizes)}, {tuple(k.strides)}, '{k.dtype}')\n"
        text += "            # Topologically Sorted Source Nodes: [y], Original ATen: [aten.log]\n"
        lines.append((text.count("\n") + 2 - (k.name == "extern_kernels.mm"), f'  File "{os.path.abspath(sys.argv[0])}", line 7, in forward\n    {k.code}\n'))
        if k.name == "extern_kernels.mm":
            text += f"            extern_kernels.mm({k.source}, {k.source}, out={k.to})\n"
        else:
            text += f"            raw_stream0 = get_raw_stream(0)\n            {k.name}.run({k.source}, {k.to}, {k.number + ', ' if k.number else ''}{math.prod(k.sizes)}, stream=raw_stream0)\n"
    text += TAIL.format(outputs=", ".join(outputs))
    path = os.path.abspath(f"{title}.{os.getpid()}.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)

    class placeholder:
        op = "placeholder"

        def __init__(self, name, source):
            self.name, self.meta, self._dynamo_source = name, {}, type("source", (), {"name": source})()

    class model:
        cudagraphs = False

        class graph:
            nodes = [placeholder(n, s) for n, s in zip(inputs, sources or [f"L['{n}']" for n in inputs])]

    run, made = compile_fx.compile_fx(model, path, lines), output_code.BoxedBool(graphs)
    if graphs:
        try:
            output_code.cudagraph_post_compile([], run, made)
        except AssertionError:
            pass  # the tool did not prevent it
    if made.value:
        return _Captured(run)
    return lambda *args: run(list(args))


class _Captured:
    """What torch._inductor.cudagraph_trees does: once as it is, once captured, then replayed."""

    def __init__(self, run):
        self.run, self.calls, self.captured = run, 0, None

    def __call__(self, *args):
        self.calls += 1
        if self.calls == 1:
            return self.run(list(args))
        if self.calls == 2:
            self.captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.captured):
                self.out = self.run(list(args))
        self.captured.replay()
        return self.out


def play(scenes):
    for name in sys.argv[1:]:
        name, *arguments = name.split(":")
        try:
            scenes[name](*arguments)
            wait()
        except RuntimeError as e:
            print("RuntimeError:", e, flush=True)
            sys.exit(1)
