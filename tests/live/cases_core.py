"""Element-wise ops, views, cat, pad, fills, a norm, conversions: what libshim's elementwise.c, view.c, reduce.c, convert.c hold."""
import ctypes as C
import os
import re

import torch

A = torch.ops.aten
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
COMPLEX = [torch.complex64, torch.complex128]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
ANY = FLOATS + COMPLEX + INTS


def size(t, low=0, high=4, most=4):
    return [t.int(0 if t.int(0, 15) == 0 else 1, most) for _ in range(t.int(low, high))]


def values(t, shape, dtype):
    return t.strided(t.rand(*(shape or [1]), dtype=dtype).reshape(shape))


def layout(t, x):
    """channels_last now and then."""
    if x.dim() == 4 and t.int(0, 1):
        return x.contiguous(memory_format=torch.channels_last)
    if x.dim() == 5 and t.int(0, 1):
        return x.contiguous(memory_format=torch.channels_last_3d)
    return x


def other(t, x, dtype):
    """Broadcasts with x."""
    shape = [1 if t.int(0, 3) == 0 else s for s in x.shape][t.int(0, x.dim()):] if x.dim() else []
    return values(t, shape, dtype)


def binary(t):
    t.group("add, subtract, mul of two tensors")
    for _ in range(200):
        x = layout(t, values(t, size(t), t.pick(ANY)))
        y = other(t, x, t.pick(ANY))
        if t.int(0, 1):
            x, y = y, x
        if {x.dtype, y.dtype} & set(COMPLEX) and {x.dtype, y.dtype} & {torch.float16, torch.bfloat16}:
            continue  # complex32 may come of it
        whole = not (x.dtype.is_floating_point or x.dtype.is_complex or y.dtype.is_floating_point or y.dtype.is_complex)
        alpha = 1.0 if whole else t.pick([1.0, -2.5])
        scalar = int(alpha) if whole else alpha
        t.check("add_Tensor", x, y, alpha, torch=lambda x, y, a, s=scalar: torch.add(x, y, alpha=s))
        t.check("aoti_torch_aten_subtract_Tensor", x, y, alpha, torch=lambda x, y, a, s=scalar: torch.sub(x, y, alpha=s))
        t.check("mul_Tensor", x, y, torch=torch.mul)
    t.group("add, mul, pow with a number; pow of tensors")
    for _ in range(100):
        x = layout(t, values(t, size(t), t.pick(ANY)))
        n = t.pick([0.5, 2.0, -1.0, 3.0])
        t.check("add_Scalar", x, n, 2.0, torch=lambda x, n, a: torch.add(x, n, alpha=2.0))
        t.check("mul_Scalar", x, n, torch=torch.mul)
        if x.dtype.is_floating_point:
            positive = x.abs() + 0.5
            y = other(t, positive, x.dtype)
            t.check("pow_Tensor_Scalar", positive, n, torch=torch.pow)
            t.check("pow_Tensor_Tensor", positive, y, torch=torch.pow)
            t.check("pow_Scalar", 2.0, y, torch=lambda b, e: torch.pow(b, e))
        elif not x.dtype.is_complex:
            e = torch.randint(0, 4, x.shape, generator=t.gen).to(x.dtype)
            t.check("pow_Tensor_Tensor", x, e, torch=torch.pow)
    t.group("gcd")
    for _ in range(40):
        x = values(t, size(t), t.pick(INTS))
        t.check("gcd", x * 6, other(t, x, t.pick(INTS)) * 4, torch=torch.gcd)


def unary(t):
    t.group("abs, angle, polar")
    for _ in range(100):
        x = layout(t, values(t, size(t), t.pick(ANY)))
        t.check("abs", x, torch=torch.abs)
        if x.dtype != torch.bfloat16 and x.dtype != torch.float16:
            t.check("angle", x, torch=torch.angle)
        r = values(t, size(t), t.pick([torch.float32, torch.float64])).abs()
        t.check("polar", r, other(t, r, r.dtype), torch=torch.polar)
    t.group("soft_margin_loss_backward")
    for _ in range(20):
        x = values(t, size(t, 1), torch.float32)
        y = torch.where(x > 0, 1.0, -1.0)
        for reduction in (0, 1, 2):
            g = t.rand(*x.shape) if reduction == 0 else t.rand(1).reshape([])
            t.check("soft_margin_loss_backward", g, x, y, reduction, torch=A.soft_margin_loss_backward)
    t.group("_fused_rms_norm")
    for _ in range(40):
        x = values(t, size(t, 1, 3), t.pick([torch.float32, torch.float64]))
        n = t.int(1, x.dim())
        shape = list(x.shape[-n:])
        w = t.pick([None, t.rand(*shape, dtype=x.dtype)])

        def norm(x, s, w, e):
            y = torch.nn.functional.rms_norm(x, s, w, e)
            return y, (x.pow(2).mean([-1 - i for i in range(len(s))], keepdim=True) + e).rsqrt()
        t.check("_fused_rms_norm", x, shape, w, 1e-5, torch=norm)


def filling(t):
    t.group("fill_, full, new_empty, new_zeros, hann_window")
    for dtype in ANY + [torch.bool]:
        o = t.out((3, 4), dtype)
        t.check("aoti_torch_cpu_fill__Scalar", o, 3.0, torch=lambda v, d=dtype: torch.full((3, 4), v, dtype=d))
        t.check("aoti_torch_aten_full", [2, 3], 5.0, dtype, None, None, None,
                torch=lambda s, v, d, a, b, c: torch.full(s, v, dtype=d))
        x = t.rand(2)
        t.check("aoti_torch_aten_new_zeros", x, [3, 0, 2], dtype, None, None, None,
                torch=lambda x, s, d, a, b, c: x.new_zeros(s, dtype=d))
    t.check("aoti_torch_aten_full", [4], 1.5, None, None, None, None, torch=lambda s, v, d, a, b, c: torch.full(s, v))
    for n in (0, 1, 2, 7, 400):
        for dtype in (None, torch.float64, torch.float16):
            t.check("hann_window", n, dtype, None, None, None, torch=lambda n, d, a, b, c: torch.hann_window(n, dtype=d),
                    exact=lambda n, d, a, b, c: torch.hann_window(n, dtype=torch.float64))
    t.group("amax, _trilinear")
    for _ in range(60):
        x = values(t, [t.int(1, 4) for _ in range(t.int(0, 4))], t.pick(FLOATS + INTS))
        dims = [d for d in range(x.dim()) if t.int(0, 1)]
        t.check("aoti_torch_aten_amax", x, dims, t.int(0, 1), torch=lambda x, d, k: torch.amax(x, d, bool(k)))
        b, i, j, o = (t.int(1, 4) for _ in range(4))
        t.check("_trilinear", t.rand(b, i), t.rand(o, i, j), t.rand(b, j), [1, 3], [0], [1, 2], [2, 3], 1,
                torch=lambda *a: A._trilinear(*a))


def views(t):
    t.group("permute, narrow, slice, squeeze, reshape")
    for _ in range(200):
        x = values(t, size(t, 1), t.pick(ANY))
        t.check("permute", x, torch.randperm(x.dim(), generator=t.gen).tolist(), torch=lambda x, d: x.permute(d))
        d = t.int(-x.dim(), x.dim() - 1)
        n = x.shape[d]
        start = t.int(0, n)
        t.check("narrow", x, d, start, t.int(0, n - start), torch=torch.narrow)
        a, b = t.pick([None, t.int(-6, 6)]), t.pick([None, t.int(-6, 6)])
        t.check("slice_Tensor", x, d, a, b, t.int(1, 3), torch=A.slice.Tensor)
        t.check("squeeze_dim", x, d, torch=torch.squeeze)
        if x.numel():
            shape = t.pick([[-1], [x.numel()], [1, -1, 1], list(reversed(x.shape)), list(x.shape) + [1],
                            [x.shape[0], -1], [-1, x.shape[-1]]])
            t.check("reshape", x, shape, torch=torch.reshape)
    t.group("view_dtype, view_as_real, view_as_complex")
    for _ in range(60):
        x = t.rand(*([t.int(1, 3) for _ in range(t.int(0, 2))] + [8]))
        to = t.pick([torch.int32, torch.int16, torch.float64, torch.uint8])
        t.same(t.shim.call("aoti_torch_cpu_view_dtype", x, to)[0], x.view(to), f"{t.brief(x)} as {to}")
        z = values(t, size(t), t.pick(COMPLEX))
        t.check("view_as_real", z, torch=torch.view_as_real)
        t.check("view_as_complex", torch.view_as_real(z), torch=torch.view_as_complex)


def parts(t):
    t.group("cat")
    for _ in range(150):
        shape = [t.int(1, 3) for _ in range(t.pick([1, 2, 3, 4, 4, 5]))]
        d = t.int(-len(shape), len(shape) - 1)
        xs = []
        for _ in range(t.int(1, 4)):
            s = list(shape)
            s[d] = t.int(0, 3)
            x = t.rand(*s, dtype=t.pick([torch.float32, torch.float32, torch.int64, torch.bfloat16, torch.complex64]))
            xs.append(layout(t, t.strided(x)))
        if t.int(0, 4) == 0:
            xs.append(torch.empty(0))
        t.check("cat", xs, d, torch=torch.cat)
    t.group("pad")
    for _ in range(150):
        x = layout(t, values(t, [t.int(3, 5) for _ in range(t.int(1, 5))], t.pick(FLOATS + COMPLEX + [torch.int64])))
        pads = [t.int(-1, 3) for _ in range(2 * t.int(1, x.dim()))]
        t.check("aoti_torch_cpu_pad", x, pads, "constant", t.pick([None, 2.0]), torch=torch.nn.functional.pad)
        y = values(t, [t.int(4, 6) for _ in range(t.int(2, 5))], t.pick([torch.float32, torch.float64]))
        y = layout(t, y)
        pads = [t.int(0, 3) for _ in range(2 * min(y.dim() - 1, t.int(max(1, y.dim() - 2), 3)))]
        t.check("aoti_torch_aten_pad", y, pads, t.pick(["reflect", "replicate", "circular"]), None,
                torch=lambda x, p, m, v: torch.nn.functional.pad(x, p, m))


def copies(t):
    t.group("copy_ between all dtypes, with broadcasting")
    wide = ANY + [torch.bool, torch.uint16, torch.uint32, torch.uint64, torch.float8_e5m2, torch.float8_e4m3fn]
    for a in wide:
        for b in wide:
            small = (torch.rand(4, 3, generator=t.gen) * 100).to(a)
            if a.is_floating_point and a.itemsize > 1:
                small = (torch.randn(4, 3, generator=t.gen, dtype=torch.float64).exp2() * 3).to(a)
            o = t.out((2, 4, 3), torch.float32).to(b) if b.itemsize == 1 and b.is_floating_point else t.out((2, 4, 3), b)
            o.is_out = True
            t.check("copy_", o, t.strided(small), 0, torch=lambda x, n, b=b: x.expand(2, 4, 3).to(b), exact=lambda x, n, b=b: x.expand(2, 4, 3).to(b),
                    strides=False)
    t.group("every half and float8 as float, and back")
    lib = t.shim
    for dtype, n in ((torch.float16, 65536), (torch.bfloat16, 65536), (torch.float8_e5m2, 256), (torch.float8_e4m3fn, 256)):
        bits = torch.arange(n).to(torch.int32).to(torch.int16 if n > 256 else torch.uint8).view(dtype)
        o = t.out((n,))
        t.same(lib.call("copy_", o, bits, 0)[0], bits.to(torch.float32), f"{dtype} as float")
        wide = torch.cat([bits.to(torch.float32), torch.randn(50000, generator=t.gen) * 2.0 ** torch.randint(-30, 20, (50000,), generator=t.gen)])
        back = torch.empty(wide.numel(), dtype=dtype)
        back.is_out = True
        got = lib.call("copy_", back, wide, 0)[0]
        t.same(got.to(torch.float32), wide.to(dtype).to(torch.float32), f"float as {dtype}")
    t.group("clone, clone_preserve_strides")
    for _ in range(60):
        x = values(t, size(t), t.pick(ANY))
        if x.dim() and t.int(0, 3) == 0:
            x = x[:1].expand([3] + list(x.shape[1:])) if x.shape[0] else x
        for name, want in (("clone", x.clone()), ("clone_preserve_strides", None)):
            h, out = lib.handle(x), C.c_void_p()
            assert getattr(lib.lib, "aoti_torch_" + name)(h, C.byref(out)) == 0
            got = lib.tensor(out)
            if want is None:
                want = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)
                want.as_strided(x.shape, x.stride()).copy_(x) if 0 not in x.stride() else None
                if 0 in x.stride():
                    continue
            t.same(got, want, f"{name} of {t.brief(x)}")


def same_number(t, got, want, what):
    t.cases += 1
    if got != want:
        t.complain(f"{what}: {got} instead of {want}")


def constants(t):
    t.group("constants: dtypes, devices, layouts, memory formats, version")
    torch_lib = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    real = C.CDLL(torch_lib)
    with open(os.path.join(os.path.dirname(torch.__file__), "include/torch/csrc/inductor/aoti_torch/c/shim.h"), encoding="utf-8") as f:
        names = re.findall(r"int32_t (aoti_torch_(?:dtype|device_type|layout|memory_format)_\w+)\(\)", f.read())
    assert len(names) >= 40
    for name in names:
        same_number(t, getattr(t.shim.lib, name)(), getattr(real, name)(), name)
    for lib in (t.shim.lib, real):
        lib.aoti_torch_abi_version.restype = C.c_uint64
        lib.aoti_torch_dtype_element_size.restype = C.c_size_t
    same_number(t, t.shim.lib.aoti_torch_abi_version() >> 48, real.aoti_torch_abi_version() >> 48, "abi_version")
    for name in (n for n in names if "dtype" in n):
        n = getattr(real, name)()
        same_number(t, t.shim.lib.aoti_torch_dtype_element_size(n), real.aoti_torch_dtype_element_size(n), name)
    t.group("numbers of tensors, and back")
    kinds = {"float32": C.c_float, "float64": C.c_double, "bool": C.c_bool, "uint8": C.c_uint8, "int8": C.c_int8,
             "int16": C.c_int16, "int32": C.c_int32, "int64": C.c_int64, "uint16": C.c_uint16, "uint32": C.c_uint32,
             "uint64": C.c_uint64}
    for name, kind in kinds.items():
        for value in (0, 1, 100) if name != "bool" else (False, True):
            x = torch.tensor([[value]], dtype=getattr(torch, name))
            got = kind()
            assert getattr(t.shim.lib, "aoti_torch_item_" + name)(t.shim.handle(x), C.byref(got)) == 0
            same_number(t, got.value, value, "item_" + name)
            out = C.c_void_p()
            assert getattr(t.shim.lib, "aoti_torch_scalar_to_tensor_" + name)(kind(value), C.byref(out)) == 0
            t.same(t.shim.tensor(out), x[0, 0], "scalar_to_tensor_" + name)
    for a in ("float32", "int64", "bool", "bfloat16"):  # of another dtype: converted, as Tensor::item() is
        got, x = C.c_double(), torch.tensor(1, dtype=getattr(torch, a))
        assert t.shim.lib.aoti_torch_item_float64(t.shim.handle(x), C.byref(got)) == 0
        same_number(t, got.value, 1.0, "item_float64 of " + a)


def cases(t):
    constants(t)
    binary(t)
    unary(t)
    filling(t)
    views(t)
    parts(t)
    copies(t)
