"""Products of matrices: mm.c."""
import torch

F = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
I = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
CX = [torch.complex64, torch.complex128]


def sizes(t):
    return t.pick([t.int(1, 5), t.int(1, 40), 1, 64, 130])


def out2(t, m, n, dtype):
    """Row-major, column-major, with gaps."""
    return t.out((m, n), dtype, t.pick([(n, 1), (1, m), (n + 3, 1), (2 * n, 2), (1, m + 2)]))


def bias_for(t, m, n, dtype):
    shape = t.pick([(n,), (m, n), (1, n), (m, 1), (), (1, 1)])
    x = t.strided(t.rand(*shape, dtype=dtype))
    return x.expand(m, n) if t.int(0, 2) == 0 else x


def scalars(t, dtype):
    if not (dtype.is_floating_point or dtype.is_complex):
        return t.pick([(1, 1), (2, 3), (0, 1), (-1, 2)])
    return t.pick([(1.0, 1.0), (1.0, 1.0), (0.5, 2.0), (0.0, 1.0), (1.0, -1.5)])


def two_dims(t):
    for dtype in F + I + CX:
        t.group(f"mm_out {str(dtype)[6:]}")
        for _ in range(40):
            m, k, n = sizes(t), sizes(t), sizes(t)
            t.check("mm_out", out2(t, m, n, dtype), t.strided(t.rand(m, k, dtype=dtype)), t.strided(t.rand(k, n, dtype=dtype)),
                    torch=torch.mm, strides=False)
        for m, k, n in ((0, 3, 4), (3, 0, 4), (3, 4, 0)):
            t.check("mm_out", t.out((m, n), dtype), t.rand(m, k, dtype=dtype), t.rand(k, n, dtype=dtype), torch=torch.mm)
    for dtype in F + I + CX:
        t.group(f"addmm_out, addmv {str(dtype)[6:]}")
        for _ in range(40):
            m, k, n = sizes(t), sizes(t), sizes(t)
            beta, alpha = scalars(t, dtype)
            bias = bias_for(t, m, n, dtype)
            if beta == 0 and bias.is_floating_point():
                bias = torch.full_like(bias, float("nan"))
            t.check("addmm_out", out2(t, m, n, dtype), bias, t.strided(t.rand(m, k, dtype=dtype)),
                    t.strided(t.rand(k, n, dtype=dtype)), beta, alpha, strides=False,
                    torch=lambda s, a, b, be, al: torch.addmm(s, a, b, beta=be, alpha=al))
            t.check("addmv", t.strided(t.rand(m, dtype=dtype)), t.strided(t.rand(m, k, dtype=dtype)),
                    t.strided(t.rand(k, dtype=dtype)), beta, alpha,
                    torch=lambda s, a, b, be, al: torch.addmv(s, a, b, beta=be, alpha=al))
    t.group("mm_out refuses")
    t.check("mm_out", t.out((3, 4)), t.rand(3, 5), t.rand(6, 4), torch=torch.mm)
    t.check("mm_out", t.out((3, 4)), t.rand(3, 5), t.rand(5, 4, dtype=torch.float64), torch=torch.mm)
    t.check("mm_out", t.out((3, 4), torch.bool), t.rand(3, 5, dtype=torch.bool), t.rand(5, 4, dtype=torch.bool), torch=torch.mm)
    for dtype in F:
        t.group(f"_addmm_activation {str(dtype)[6:]}")
        for _ in range(20):
            m, k, n = sizes(t), sizes(t), sizes(t)
            t.check("_addmm_activation", t.rand(n, dtype=dtype), t.rand(m, k, dtype=dtype), t.rand(k, n, dtype=dtype), 1.0, 1.0,
                    t.int(0, 1), torch=lambda s, a, b, be, al, g: torch._addmm_activation(s, a, b, beta=be, alpha=al, use_gelu=bool(g)))


def batches(t):
    for dtype in F + I + CX:
        t.group(f"bmm_out, baddbmm_out, addbmm {str(dtype)[6:]}")
        for _ in range(25):
            b, m, k, n = t.int(1, 5), sizes(t), sizes(t), sizes(t)
            beta, alpha = scalars(t, dtype)
            x, y = t.strided(t.rand(b, m, k, dtype=dtype)), t.strided(t.rand(b, k, n, dtype=dtype))
            stride = t.pick([(m * n, n, 1), (m * n, 1, m), (n, b * n, 1)])
            t.check("bmm_out", t.out((b, m, n), dtype, stride), x, y, torch=torch.bmm, strides=False)
            self = t.strided(t.rand(*t.pick([(b, m, n), (1, m, n), (n,), (m, 1), (b, 1, n), ()]), dtype=dtype))
            t.check("baddbmm_out", t.out((b, m, n), dtype, stride), self, x, y, beta, alpha, strides=False,
                    torch=lambda s, a, c, be, al: torch.baddbmm(s, a, c, beta=be, alpha=al))
            t.check("addbmm", t.strided(t.rand(*t.pick([(m, n), (n,), (1, n)]), dtype=dtype)), x, y, beta, alpha,
                    torch=lambda s, a, c, be, al: torch.addbmm(s, a, c, beta=be, alpha=al))


def quantized(t):
    t.group("_int_mm_out")
    for _ in range(30):
        m, k, n = t.int(17, 60), 8 * t.int(1, 9), 8 * t.int(1, 9)
        t.check("_int_mm_out", t.out((m, n), torch.int32), t.strided(t.rand(m, k, dtype=torch.int8) * 13),
                t.strided(t.rand(k, n, dtype=torch.int8) * 14), torch=torch._int_mm)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        t.group(f"_weight_int8pack_mm {str(dtype)[6:]}")
        for _ in range(20):
            m, k, n = t.int(1, 20), 32 * t.int(1, 4), 16 * t.int(1, 4)
            w, s = t.rand(n, k, dtype=torch.int8) * 14, t.rand(n, dtype=dtype)
            t.check("_weight_int8pack_mm", t.rand(m, k, dtype=dtype), w, s, torch=torch._weight_int8pack_mm,
                    exact=lambda a, b, c: a @ b.double().t() * c)
    t.group("_scaled_mm")
    for _ in range(30):
        m, k, n = 16 * t.int(1, 4), 16 * t.int(1, 4), 16 * t.int(1, 4)
        f8 = t.pick([torch.float8_e4m3fn, torch.float8_e5m2])
        a, b = t.rand(m, k).to(f8), t.rand(n, k).to(f8).t()
        dtype = t.pick([torch.float32, torch.bfloat16])
        sa, sb = t.rand(1).abs(), t.rand(1).abs()
        bias = t.pick([None, t.rand(n).to(dtype)])
        args = (a, b, sa, sb, bias, None, dtype, 0)
        exact = lambda a, b, sa, sb, bias, r, d, f: a.double() @ b.double() * sa * sb + (0 if bias is None else bias)  # noqa: E731
        t.check("_scaled_mm", *args, exact=exact, torch=lambda a, b, sa, sb, bias, r, d, f: torch._scaled_mm(
            a, b, scale_a=sa, scale_b=sb, bias=bias, out_dtype=d))
        t.check("_scaled_mm_out", t.out((m, n), dtype), *args, exact=exact, torch=lambda a, b, sa, sb, bias, r, d, f: torch._scaled_mm(
            a, b, scale_a=sa, scale_b=sb, bias=bias, out_dtype=d))


def groups(t):
    t.group("_grouped_mm")
    for _ in range(60):
        dtype = t.pick([torch.bfloat16, torch.float32, torch.float16])
        g, m, k, n = t.int(1, 4), 8 * t.int(1, 4), 8 * t.int(1, 4), 8 * t.int(1, 4)
        a2, b2 = t.int(0, 1), t.int(0, 1)
        a = t.rand(m, k, dtype=dtype) if a2 else t.rand(g, m, k, dtype=dtype)
        b = t.rand(n + t.int(0, 1), k, dtype=dtype).t() if b2 else t.rand(g, n + t.int(0, 1), k, dtype=dtype).transpose(1, 2)
        all_ = k if a2 and b2 else m if a2 else b.shape[-1]
        cuts = torch.randint(0, all_ + 1, (g - 1,), generator=t.gen).sort()[0]
        offs = torch.cat([cuts, torch.tensor([all_])]).to(torch.int32) if a2 or b2 else None

        def exact(a, b, offs, bias, out_dtype):
            if offs is None:
                return a @ b
            ends = [0, *offs.tolist()]
            parts = list(zip(ends[:-1], ends[1:]))
            if a2 and b2:
                return torch.stack([a[:, i:j] @ b[i:j] for i, j in parts])
            if a2:
                return torch.cat([a[i:j] @ b[x] for x, (i, j) in enumerate(parts)])
            return torch.cat([a[x] @ b[:, i:j] for x, (i, j) in enumerate(parts)], 1)
        try:
            torch._grouped_mm(a, b, offs)
        except RuntimeError as e:  # its own code for CPUs does not cut what it sums over
            if "cannot be multiplied" not in str(e) and "multiple of 16" not in str(e):
                raise
            continue
        t.check("_grouped_mm", a, b, offs, None, None, exact=exact, torch=lambda a, b, o, bias, d: torch._grouped_mm(a, b, o))


def old_names(t):
    t.group("names of old releases")
    for _ in range(10):
        a, b, c = t.rand(3, 4), t.rand(4, 5), t.rand(5)
        t.check("aoti_torch_mm_out", t.out((3, 5)), a, b, torch=torch.mm)
        t.check("aoti_torch_bmm_out", t.out((1, 3, 5)), a[None], b[None], torch=torch.bmm)
        t.check("aoti_torch_addmm_out", t.out((3, 5)), c, a, b, 1.0, 2.0, torch=lambda c, a, b, be, al: torch.addmm(c, a, b, beta=be, alpha=al))
        t.check("aoti_torch__mm_plus_mm_out", t.out((3, 5)), a, b, a + 1, b - 1, torch=lambda a, b, c, d: a @ b + c @ d)
        x, w = t.rand(2, 3, 5, 5), t.rand(4, 3, 3, 3)
        t.check("aoti_torch_convolution", x, w, t.pick([None, t.rand(4)]), [1, 1], [1, 1], [1, 1], 0, [0, 0], 1,
                torch=lambda x, w, b, s, p, d, tr, o, g: torch.convolution(x, w, b, s, p, d, bool(tr), o, g))


def cases(t):
    two_dims(t)
    groups(t)
    old_names(t)
    batches(t)
    quantized(t)
