"""Layers of int8 models: quant.c. torch gets the weight packed, as it wants it; the shim gets it as packages unpack it."""
import torch

Q = torch.ops.onednn
UNARY = [("none", []), ("relu", []), ("hardtanh", [-0.5, 2.0]), ("hardswish", []), ("swish", []), ("tanh", [])]


def quantized(t, *size, dtype=torch.uint8):
    low, high = (0, 256) if dtype == torch.uint8 else (-128, 128)
    return torch.randint(low, high, size, generator=t.gen).to(dtype)


def after(y, name, args):
    f = torch.nn.functional
    return {"none": lambda: y, "relu": lambda: f.relu(y), "hardtanh": lambda: y.clamp(*args), "hardswish": lambda: f.hardswish(y),
            "swish": lambda: f.silu(y), "tanh": lambda: y.tanh()}[name]()


def output(t, dtype):
    """(scale, zero point, what makes the output of exact values)"""
    if dtype.is_floating_point:
        return 1.0, 0, lambda y: y
    scale, zero = t.pick([0.05, 0.3, 1.0]), t.int(0, 9)
    low, high = (0, 255) if dtype == torch.uint8 else (-128, 127)
    return scale, zero, lambda y: (y / scale + zero).round().clamp(low, high).to(dtype)


def layer(t, w_channels):
    act, zero = torch.tensor(t.pick([0.02, 0.1])), torch.tensor(t.int(0, 9), dtype=torch.int32)
    scales = torch.rand(w_channels, generator=t.gen) * 0.02 + 0.01
    return act, zero, scales, torch.zeros(w_channels, dtype=torch.int32)


def near(t, op, args, want, exact, out_dtype, label):
    """Integers may be off by one where a sum falls between two of them: at most one in 200."""
    t.cases += 1
    got = t.shim.call(op, *args)[-1]
    if got.shape != want.shape or got.dtype != want.dtype:
        return t.complain(f"{op} {label}: {got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}")
    if any(a != b and n > 1 for a, b, n in zip(got.stride(), want.stride(), want.shape)):
        return t.complain(f"{op} {label}: strides {got.stride()} instead of {want.stride()}")
    if out_dtype.is_floating_point:
        text = t.differ(got, want, exact, True, 1e-5)
        return t.complain(f"{op} {label}: {text}") if text else None
    off = (got.int() - want.int()).abs()
    if off.numel() and (off.max() > 1 or (off > 0).sum() > 1 + off.numel() // 200):
        return t.complain(f"{op} {label}: {int((off > 0).sum())} of {off.numel()} integers differ, by at most {int(off.max())}")
    return None


def linear(t):
    t.group("_qlinear_pointwise")
    for _ in range(60):
        k, n = t.int(1, 70), t.int(1, 40)
        x = quantized(t, *[t.int(1, 4) for _ in range(t.int(1, 2))], k, dtype=t.pick([torch.uint8, torch.uint8, torch.int8]))
        act, zero, scales, zeros = layer(t, n)
        if x.dtype == torch.int8:
            zero = torch.tensor(0, dtype=torch.int32)
        w = quantized(t, n, k, dtype=torch.int8)
        bias = t.pick([None, t.rand(n)])
        dtype = t.pick([torch.float32, torch.bfloat16, torch.uint8, torch.int8])
        scale, out_zero, rounded = output(t, dtype)
        name, args = t.pick(UNARY)
        exact = (x.double() - zero) @ w.double().t() * (act.double() * scales.double()) + (0 if bias is None else bias.double())
        want = Q.qlinear_pointwise.tensor(x, act, zero, Q.qlinear_prepack(w, None), scales, zeros, bias, scale, out_zero, dtype, name, args, "")
        near(t, "_qlinear_pointwise_tensor", [x, act, zero, w.t(), scales, zeros, bias, scale, out_zero, dtype, name, args, ""],
             want, rounded(after(exact, name, args)), dtype, f"{t.brief(x)} {name} {dtype}")
        if x.dim() == 2 and dtype.is_floating_point:
            other = t.rand(*want.shape, dtype=dtype)
            how, last = t.pick(["sum", "add", "none"]), t.pick(["none", "relu"])
            added = exact if how == "none" else exact + other.double()
            binary = [None if how == "none" else other, bias, 1.0, 0, dtype, 1.0, 0, how, 1.0, last, [], ""]
            want = Q.qlinear_pointwise.binary_tensor(x, act, zero, Q.qlinear_prepack(w, None), scales, zeros,
                                                     None if how == "none" else other.clone(), *binary[1:])
            near(t, "_qlinear_pointwise_binary_tensor", [x, act, zero, w.t(), scales, zeros, *binary], want, after(added, last, []),
                 dtype, f"{t.brief(x)} {how} {last}")


def convolution(t):
    t.group("_qconv_pointwise")
    for _ in range(50):
        dims, groups = t.pick([1, 2, 2, 3]), t.pick([1, 1, 2])
        ci, co, kernel = groups * t.int(1, 6), groups * t.int(1, 6), [t.int(1, 3) for _ in range(dims)]
        x = quantized(t, t.int(1, 3), ci, *[t.int(3, 7) for _ in range(dims)])
        w = quantized(t, co, ci // groups, *kernel, dtype=torch.int8)
        act, zero, scales, zeros = layer(t, co)
        lists = [[t.int(1, 2)] * dims, [t.int(0, 1)] * dims, [1] * dims]
        bias = t.pick([None, t.rand(co)])
        dtype = t.pick([torch.float32, torch.bfloat16, torch.uint8])
        scale, out_zero, rounded = output(t, dtype)
        name, args = t.pick(UNARY[:[2, 4, 1][dims - 1]])
        packed = Q.qconv_prepack(w, scales, float(act), int(zero), *lists, groups, None)
        conv = [torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d][dims - 1]
        per = (act.double() * scales.double()).reshape(-1, *[1] * dims)
        exact = conv(x.double() - zero, w.double(), None, *lists, groups) * per + (0 if bias is None else bias.double().reshape(-1, *[1] * dims))
        want = Q.qconv_pointwise.tensor(x, act, zero, packed, scales, zeros, bias, *lists, groups, scale, out_zero, dtype, name, args, None)
        near(t, "_qconv_pointwise_tensor", [x, act, zero, w, scales, zeros, bias, *lists, groups, scale, out_zero, dtype, name, args, None],
             want, rounded(after(exact, name, args)), dtype, f"{t.brief(x)} {t.brief(w)} {name} {dtype}")
        if dims == 2:
            accum = quantized(t, *want.shape) if dtype == torch.uint8 else t.rand(*want.shape, dtype=dtype)
            accum = accum.contiguous(memory_format=torch.channels_last)
            a_scale, a_zero = (0.2, 3) if dtype == torch.uint8 else (1.0, 0)
            tail = [bias, *lists, groups, scale, out_zero, dtype, a_scale, a_zero, "sum", 1.0, "relu", [], None]
            want = Q.qconv2d_pointwise.binary_tensor(x, act, zero, packed, scales, zeros, accum.clone(memory_format=torch.preserve_format), *tail)
            added = exact + (accum.double() - a_zero) * a_scale
            near(t, "_qconv2d_pointwise_binary_tensor", [x, act, zero, w, scales, zeros, accum, *tail], want,
                 rounded(after(added, "relu", [])), dtype, f"{t.brief(x)} {dtype}")


def cases(t):
    linear(t)
    convolution(t)
