"""Operators on complex numbers, which models call through the proxy executor: libshim/complex.c."""
import torch
from cases_proxy import Proxy, shape

A = torch.ops.aten
UNARY = """_conj conj_physical resolve_conj abs acos acosh angle asin asinh atan atanh cos cosh exp exp2 expm1 isfinite isinf isnan isreal log
log10 log1p log2 logical_not neg positive reciprocal rsqrt sgn sigmoid silu sin sinh sqrt square tan tanh""".split()


def values(t, size, dtype):
    return t.strided(t.rand(*size, dtype=dtype))


def plain(f):
    """torch's answer without bits of conjugation, in the strides it has."""
    def call(*a):
        r = f(*a)
        return torch.empty_strided(r.size(), r.stride(), dtype=r.dtype).copy_(r) if isinstance(r, torch.Tensor) and r.is_conj() else r
    return call


def elements(t):
    t.group("complex: of one and of two operands")
    for dtype in (torch.complex64, torch.complex128):
        for op in UNARY:
            for _ in range(3):
                t.check(f"aten::{op}", values(t, shape(t, 0, 3), dtype), torch=plain(getattr(A, op)), slack=1e-5)
        for op in "add.Tensor sub.Tensor mul.Tensor div.Tensor pow.Tensor_Tensor eq.Tensor ne.Tensor".split():
            f = A
            for part in op.split("."):
                f = getattr(f, part)
            for _ in range(12):
                size = shape(t, 0, 3)
                other = t.pick([size, size[1:], [1] * len(size)])
                args = [values(t, size, dtype), values(t, other, t.pick([dtype, torch.float32, torch.complex64]))]
                t.check(f"aten::{op}", *args, torch=f, slack=1e-5)
        for op, value in ("sub.Scalar", 2), ("mul.Scalar", 0.5), ("div.Scalar", 3.0), ("eq.Scalar", 1), ("pow.Tensor_Scalar", 2), ("pow.Tensor_Scalar", 0.5):
            f = getattr(getattr(A, op.split(".")[0]), op.split(".")[1])
            t.check(f"aten::{op}", values(t, [3, 4], dtype), value, torch=f, slack=1e-5)
        real = torch.float32 if dtype == torch.complex64 else torch.float64
        for _ in range(5):
            size = shape(t, 0, 3)
            x, y = values(t, size, real), values(t, size, real)
            t.check("aten::complex", x, y, torch=A.complex)
            t.check("aten::polar", x, y, torch=A.polar, slack=1e-5)
            z, w, v = (values(t, size, dtype) for _ in range(3))
            t.check("aten::where.self", values(t, size, torch.bool), z, w, torch=A.where.self)
            t.check("aten::addcmul", z, w, v, torch=A.addcmul, slack=1e-5)
            t.check("aten::masked_fill.Scalar", z, values(t, size, torch.bool), 3.0, torch=A.masked_fill.Scalar)


def sums(t):
    t.group("complex: sums and products")
    for _ in range(40):
        dtype, size = t.pick([torch.complex64, torch.complex128]), shape(t, 1, 4)
        x, keep = values(t, size, dtype), t.int(0, 1)
        d = t.int(-len(size), len(size) - 1)
        dims = torch.randperm(len(size), generator=t.gen).tolist()[:t.int(0, len(size))]
        t.check("aten::sum", x, torch=A.sum, slack=1e-5)
        t.check("aten::mean", x, torch=A.mean, slack=1e-5)
        t.check("aten::prod", x, torch=A.prod, slack=1e-5)
        t.check("aten::sum.dim_IntList", x, dims, keep, torch=lambda x, d, k: A.sum.dim_IntList(x, d, bool(k)), slack=1e-5)
        t.check("aten::mean.dim", x, dims, keep, torch=lambda x, d, k: A.mean.dim(x, d, bool(k)), slack=1e-5)
        t.check("aten::prod.dim_int", x, d, keep, torch=lambda x, d, k: A.prod.dim_int(x, d, bool(k)), slack=1e-5)
        m, k, n, b = (t.int(0, 5) for _ in range(4))
        t.check("aten::mm", values(t, [m, k], dtype), values(t, [k, n], dtype), torch=A.mm, slack=1e-5)
        t.check("aten::bmm", values(t, [b, m, k], dtype), values(t, [b, k, n], dtype), torch=A.bmm, slack=1e-5)
        t.check("aten::addmm", values(t, [n], dtype), values(t, [m, k], dtype), values(t, [k, n], dtype), torch=A.addmm, slack=1e-5)
        t.check("aten::mv", values(t, [m, k], dtype), values(t, [k], dtype), torch=A.mv, slack=1e-5)
        t.check("aten::dot", values(t, [k], dtype), values(t, [k], dtype), torch=A.dot, slack=1e-5)
        t.check("aten::vdot", values(t, [k], dtype), values(t, [k], dtype), torch=A.vdot, slack=1e-5)


def places(t):
    t.group("complex: copies, views, parts")
    for _ in range(60):
        dtype, size = t.pick([torch.complex64, torch.complex128]), shape(t, 1, 4, empty=False)
        x, n = values(t, size, dtype), len(size)
        d = t.int(-n, n - 1)
        length = x.shape[d]
        order = torch.randperm(n, generator=t.gen).tolist()
        i, start = t.int(-length, length - 1), t.int(-1, length)
        t.check("aten::clone", x, torch=A.clone)
        t.check("aten::permute", x, order, torch=A.permute)
        t.check("aten::unsqueeze", x, t.int(-n - 1, n), torch=A.unsqueeze)
        t.check("aten::select.int", x, d, i, torch=A.select.int)
        t.check("aten::slice.Tensor", x, d, start, length, t.int(1, 2), torch=A.slice.Tensor)
        t.check("aten::expand", x, [2] + size, torch=A.expand)
        t.check("aten::flip", x, [d], torch=A.flip)
        t.check("aten::roll", x, [t.int(-7, 7)], [d], torch=A.roll)
        t.check("aten::roll", x, [t.int(-7, 7)], [], torch=A.roll)
        t.check("aten::repeat", x, [2] + [t.int(0, 2) for _ in size], torch=A.repeat)
        t.check("aten::select_scatter", x, values(t, [s for k, s in enumerate(size) if k != d % n], dtype), d, i, torch=A.select_scatter)
        t.check("aten::gather", x, d, torch.randint(0, length, size, generator=t.gen), torch=A.gather)
        t.check("aten::index_select", x, d, torch.randint(0, length, (3,), generator=t.gen), torch=A.index_select)
        t.check("aten::zeros_like", x, torch=A.zeros_like)
        if n > 1:
            k = t.int(-2, 2)
            t.check("aten::tril", x, k, torch=A.tril)
            t.check("aten::triu", x, k, torch=A.triu)
            t.check("aten::diagonal", x, k, 0, 1, torch=A.diagonal)
            t.check("aten::transpose.int", x, 0, d, torch=A.transpose.int)
    t.check("aten::fft_fftfreq", 7, 0.5, torch=A.fft_fftfreq)
    t.check("aten::fft_rfftfreq", 8, 1.0, torch=A.fft_rfftfreq)


def cases(t):
    t.shim.call = Proxy(t.shim).call
    for group in (elements, sums, places):
        group(t)
