"""Convolutions: conv.c."""
import torch


def layout(t, x, how):
    if how == "last":
        order = [0] + list(range(2, x.dim())) + [1]
        return x.permute(order).contiguous().permute([order.index(i) for i in range(x.dim())])
    return t.strided(x, how)


def one(t, dims, dtype, transposed, kind):
    k = [t.int(1, 4) for _ in range(dims)]
    if t.int(0, 3) == 0:
        k = [1] * dims
    dilation = [t.int(1, 2) for _ in range(dims)]
    stride = [t.int(1, 3) for _ in range(dims)]
    padding = [t.int(0, 2) for _ in range(dims)]
    extra = [t.int(0, max(s, d) - 1) for s, d in zip(stride, dilation)] if transposed else [0] * dims
    if t.int(0, 2) == 0:
        stride, dilation, padding, extra = [1] * dims, [1] * dims, [0] * dims, [0] * dims
    groups = {"plain": 1, "grouped": t.int(2, 3), "depthwise": 0}[kind]
    ci = t.pick([1, 3, 4, 16]) * max(groups, 1)
    co = t.pick([1, 2, 5, 16]) * max(groups, 1)
    if not groups:
        groups = ci = t.pick([4, 7, 16])
        co = ci * t.int(1, 2)
    size = [t.int(d * (kk - 1) + 1, d * (kk - 1) + t.pick([3, 12])) + (4 if transposed else 0) for kk, d in zip(k, dilation)]
    x = layout(t, t.rand(t.pick([1, 2, 3]), ci, *size, dtype=dtype), t.pick(["plain", "last", "last", "permuted", "gaps"]))
    w = t.rand(*((ci, co // groups) if transposed else (co, ci // groups)), *k, dtype=dtype)
    w = layout(t, w, t.pick(["plain", "plain", "last", "permuted"]))
    bias = t.pick([None, t.rand(co, dtype=dtype)])
    t.check("convolution", x, w, bias, stride, padding, dilation, int(transposed), extra, groups,
            torch=lambda x, w, b, s, p, d, tr, op, g: torch.ops.aten.convolution(x, w, b, s, p, d, bool(tr), op, g))


def cases(t):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        for transposed in (False, True):
            for dims in (1, 2, 3):
                t.group(f"convolution {str(dtype)[6:]}, {dims} dims{', transposed' if transposed else ''}")
                for kind in ("plain", "grouped", "depthwise"):
                    for _ in range(12):
                        one(t, dims, dtype, transposed, kind)
    t.group("convolution: more than a chunk of patches")
    for args in ((2, 64, 96, 30, 3, 1, 1, 1), (1, 3, 64, 112, 7, 2, 3, 1), (1, 256, 64, 28, 1, 1, 0, 1), (1, 96, 96, 40, 3, 1, 1, 96)):
        n, ci, co, size, k, s, p, g = args
        for how in ("plain", "last"):
            t.check("convolution", layout(t, t.rand(n, ci, size, size), how), t.rand(co, ci // g, k, k), t.rand(co), [s, s], [p, p],
                    [1, 1], 0, [0, 0], g, torch=torch.ops.aten.convolution)
    t.check("convolution", t.rand(1, 128, 9000), t.rand(64, 128, 5), None, [1], [2], [1], 0, [0], 1, torch=torch.ops.aten.convolution)
    t.check("convolution", t.rand(1, 64, 40, 40), t.rand(64, 32, 4, 4), t.rand(32), [2, 2], [1, 1], [1, 1], 1, [0, 0], 1,
            torch=lambda x, w, b, s, p, d, tr, op, g: torch.ops.aten.convolution(x, w, b, s, p, d, True, op, g))
    t.group("convolution: empty batches, refusals")
    t.check("convolution", t.rand(0, 3, 8, 8), t.rand(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], 0, [0, 0], 1,
            torch=torch.ops.aten.convolution)
    t.check("convolution", t.rand(1, 3, 2, 2), t.rand(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], 0, [0, 0], 1,
            torch=torch.ops.aten.convolution)
    t.check("convolution", t.rand(1, 4, 8, 8), t.rand(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], 0, [0, 0], 1,
            torch=torch.ops.aten.convolution)
    t.check("convolution", t.rand(1, 3, 8, 8), t.rand(4, 3, 3, 3), t.rand(5), [1, 1], [0, 0], [1, 1], 0, [0, 0], 1,
            torch=torch.ops.aten.convolution)
