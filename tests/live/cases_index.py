"""Sorting, scans, searching, indexing, scattering, pooling, sampling, bags, distances, transforms, random numbers."""
import ctypes

import torch

A = torch.ops.aten
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
REAL = FLOATS + INTS
ALL = REAL + [torch.bool]
NAN = float("nan")


def rand(t, *size, dtype=torch.float32):
    return t.rand(*(size or (1,)), dtype=dtype).reshape(size)


def shape(t, low, high, largest=5, empty=True):
    n = t.int(low, high)
    return [t.int(0 if empty and t.int(0, 12) == 0 else 1, largest) for _ in range(n)]


def values(t, size, dtype, nans=True, special=False):
    """With ties, and with NaN and infinities now and then."""
    x = rand(t, *size, dtype=dtype)
    if dtype.is_floating_point and x.numel():
        if t.int(0, 1):
            x = (x * 2).round() / 2
        if nans and t.int(0, 2) == 0:
            x[torch.rand(x.shape, generator=t.gen) < 0.2] = NAN
        if special and t.int(0, 2) == 0:
            x[torch.rand(x.shape, generator=t.gen) < 0.2] = float("-inf")
    return t.strided(x)


def distinct(t, size, dtype):
    """No ties, so that indices are compared too."""
    n = 1
    for s in size:
        n *= s
    return t.strided((torch.randperm(n, generator=t.gen) - n // 2).reshape(size).to(dtype))


def any_dim(t, x):
    return t.int(-max(x.dim(), 1), max(x.dim(), 1) - 1)


def sorting(t):
    t.group("sort and sort_stable")
    for _ in range(150):
        x = values(t, shape(t, 0, 3, t.pick([3, 40])), t.pick(ALL))
        if t.int(0, 1):
            x = distinct(t, x.shape, t.pick([torch.float32, torch.float64, torch.int64]))
        d, down = any_dim(t, x), t.int(0, 1)
        t.check("sort_stable", x, None, d, down, torch=lambda x, s, d, o: A.sort.stable(x, stable=True, dim=d, descending=bool(o)))
        t.check("sort", x, d, down, torch=lambda x, d, o: (A.sort(x, d, bool(o))[0],))
    x = rand(t, 3000).round()
    t.check("sort_stable", x, None, 0, 0, torch=lambda x, s, d, o: A.sort.stable(x, stable=True, dim=d, descending=bool(o)))
    t.group("topk, kthvalue, median, mode")
    for _ in range(150):
        size = shape(t, 0, 3, t.pick([3, 30]), False)
        x = distinct(t, size, t.pick([torch.float32, torch.float64, torch.int64, torch.int32]))
        d = any_dim(t, x)
        n = x.shape[d] if x.dim() else 1
        t.check("topk", x, t.int(0, n), d, t.int(0, 1), 1, torch=lambda x, k, d, m, s: A.topk(x, k, d, bool(m), bool(s)))
        t.check("kthvalue", x, t.int(1, n), d, t.int(0, 1), torch=lambda x, k, d, o: A.kthvalue(x, k, d, bool(o)))
        y = values(t, size, t.pick(REAL))
        k = t.int(0, n)
        t.check("topk", y, k, d, 1, 1, torch=lambda x, k, d, m, s: (A.topk(x, k, d, bool(m), bool(s))[0],))
        t.check("kthvalue", y, t.int(1, n), d, 0, torch=lambda x, k, d, o: (A.kthvalue(x, k, d, bool(o))[0],))
        t.check("median", y, torch=A.median.default)
        t.check("nanmedian", y, torch=A.nanmedian.default)
        z = values(t, size, t.pick(REAL), nans=False)
        v, at = t.check("mode", z, d, t.int(0, 1), torch=lambda x, d, o: A.mode(x, d, bool(o))[:1])
        if z.dim():  # of tied ones any
            k = at if at.dim() == z.dim() else at.unsqueeze(d)
            t.same(z.gather(d, k), v if v.dim() == z.dim() else v.unsqueeze(d), "indices of mode", strides=False)


def scans(t):
    t.group("cumsum and cumprod")
    for _ in range(200):
        x = values(t, shape(t, 0, 3, t.pick([4, 30])), t.pick(ALL + [torch.complex64, torch.complex128]))
        dtype = t.pick([None, None, None, torch.float64, torch.int64, torch.float32])
        if x.dtype.is_complex:
            dtype = None
        d = any_dim(t, x)
        exact = None if dtype is None else (lambda x, d, ty: torch.cumsum(x, d, dtype=ty))
        t.check("cumsum", x, d, dtype, torch=lambda x, d, ty: torch.cumsum(x, d, dtype=ty), exact=exact)
        exact = None if dtype is None else (lambda x, d, ty: torch.cumprod(x, d, dtype=ty))
        t.check("cumprod", x, d, dtype, torch=lambda x, d, ty: torch.cumprod(x, d, dtype=ty), exact=exact)
    t.group("cummax, cummin, logcumsumexp")
    for _ in range(150):
        x = values(t, shape(t, 0, 3, t.pick([4, 30])), t.pick(ALL))
        d = any_dim(t, x)
        t.check("cummax", x, d, torch=torch.cummax)
        t.check("cummin", x, d, torch=torch.cummin)
        y = values(t, shape(t, 0, 3, 20), t.pick(FLOATS), special=True)
        t.check("logcumsumexp", y, any_dim(t, y), torch=torch.logcumsumexp)
    t.group("nonzero, repeat_interleave")
    for _ in range(150):
        x = t.strided(rand(t, *shape(t, 0, 4), dtype=t.pick(ALL + [torch.complex64])))
        if t.int(0, 1):
            x = x * t.strided(rand(t, *x.shape, dtype=torch.bool)).to(x.dtype)
        t.check("nonzero", x, torch=torch.nonzero)
        t.check("nonzero_static", x, t.int(0, 20), t.int(-1, 3), torch=lambda x, n, v: torch.nonzero_static(x, size=n, fill_value=v))
        r = t.strided(torch.randint(0, 4, shape(t, 1, 1, 7), generator=t.gen, dtype=t.pick([torch.int64, torch.int32])))
        t.check("repeat_interleave_Tensor", r, t.pick([None, int(r.sum())]), torch=lambda r, n: A.repeat_interleave.Tensor(r, output_size=n))


def searching(t):
    t.group("searchsorted and bucketize")
    for _ in range(200):
        dtype = t.pick(REAL)
        lead = shape(t, 0, 2, 4, False)
        seq, order = torch.sort(values(t, lead + [t.int(1, 9)], dtype))
        x = values(t, lead + [t.int(0, 6)], dtype)
        right, small = t.int(0, 1), t.int(0, 1)
        side = t.pick([None, "right"] if right else [None, "left", "right"])

        def ref(s, x, small, right, side, sorter):
            return torch.searchsorted(s, x, out_int32=bool(small), right=bool(right), side=side, sorter=sorter)
        t.check("searchsorted_Tensor", t.strided(seq), x, small, right, side, None, torch=ref)
        mixed = torch.randperm(seq.shape[-1], generator=t.gen)
        t.check("searchsorted_Tensor", seq[..., mixed], x, small, right, side, torch.argsort(mixed).expand(seq.shape).contiguous(), torch=ref)
        flat = seq.reshape(-1, seq.shape[-1])[0].contiguous()
        t.check("searchsorted_Scalar", flat, float(t.int(-5, 5)) / 2, small, right, side, None, torch=ref)
        t.check("bucketize_Tensor", values(t, shape(t, 0, 3), dtype), t.strided(flat), small, right,
                torch=lambda x, b, small, right: torch.bucketize(x, b, out_int32=bool(small), right=bool(right)))
    t.group("histograms")
    for _ in range(100):
        dtype = t.pick([torch.float32, torch.float64])
        x = t.strided(rand(t, *shape(t, 0, 3, 12, False), dtype=dtype))  # not on the edges of bins
        bins, lo = t.int(1, 12), t.int(-3, 1)
        hi = t.pick([lo, lo + t.int(1, 4)]) if lo == 0 else lo + t.int(1, 4)
        t.check("histc", x, bins, float(lo), float(hi), torch=torch.histc, exact=lambda x, *a: torch.histc(x.to(dtype), *a))
        rng = t.pick([None if x.numel() > 1 else [-9.0, 9.1], [float(lo), lo + 2.5]])  # one value is in the middle: on an edge
        weight = t.pick([None, rand(t, *x.shape, dtype=dtype)])
        density = t.int(0, 1)

        def hist(x, bins, rng, w, density):
            return A.histogram.bin_ct(x.to(dtype), bins, range=rng, weight=None if w is None else w.to(dtype), density=bool(density))
        def wide(x, bins, rng, w, density):
            return A.histogram.bin_ct(x, bins, range=rng, weight=w, density=bool(density))
        # 1e-5: an edge may differ in its last bit (search.c), a density is divided by the width between two
        t.check("histogram_bin_ct", x, bins, rng, weight, density, torch=hist, slack=1e-5,
                exact=wide if density or weight is not None else hist)
        p = t.strided(rand(t, t.int(2, 9), t.int(1, 3), dtype=dtype))
        each = [t.int(1, 4) for _ in range(p.shape[1])]
        rng = t.pick([None, [v for _ in each for v in (-1.0, 1.5)]])

        def dd(x, bins, rng, w, density):
            return A._histogramdd_from_bin_cts(x.to(dtype), bins, range=rng, weight=None, density=bool(density))

        def dd_wide(x, bins, rng, w, density):
            return A._histogramdd_from_bin_cts(x, bins, range=rng, weight=None, density=bool(density))
        t.check("_histogramdd_from_bin_cts", p, each, rng, None, density, torch=dd, exact=dd_wide if density else dd)


def indices_for(t, x):
    """Tensors, masks and None for the dims of x."""
    out, d = [], 0
    block = shape(t, 0, 2, 3, False)
    count = t.int(1, 4)
    masked = None
    while d < x.dim() and len(out) < x.dim():
        kind = t.int(0, 3)
        if kind == 0 and x.shape[d] and masked is None and not t.int(0, 2):
            mask = torch.zeros(x.shape[d], dtype=torch.bool)
            mask[torch.randperm(x.shape[d], generator=t.gen)[:count]] = True
            masked = int(mask.sum())
            out.append(mask)
        elif kind < 3 and x.shape[d]:
            size = [s if t.int(0, 3) else 1 for s in block][t.int(0, 1) * (len(block) > 1):]
            out.append(t.strided(torch.randint(-x.shape[d], x.shape[d], size, generator=t.gen).to(t.pick([torch.int64, torch.int64, torch.int32]))))
        else:
            out.append(None)
        d += 1
    if masked is not None:  # the others have to fit its count
        out = [None if o is None else o if o.dtype == torch.bool else o.reshape(-1)[:1] for o in out]
    if all(o is None for o in out) and x.dim() and x.shape[0]:
        out[0] = torch.tensor([0])
    return out


def indexing(t):
    t.group("index")
    for _ in range(400):
        x = t.strided(rand(t, *shape(t, 1, 4, 5, False), dtype=t.pick(ALL + [torch.complex64])))
        idx = indices_for(t, x)
        t.check("index_Tensor", x, idx, torch=A.index.Tensor)
    t.check("index_Tensor", rand(t, 3, 4, 5), [rand(t, 3, 4) > 0, None], torch=lambda x, i: A.index.Tensor(x, i))
    t.check("index_Tensor", rand(t, 3, 4), [torch.tensor([5])], torch=A.index.Tensor)
    t.group("index_put")
    for _ in range(300):
        x = t.strided(rand(t, *shape(t, 1, 3, 5, False), dtype=t.pick(ALL + [torch.complex64])))
        idx = indices_for(t, x)
        want = A.index.Tensor(x, idx)
        v = t.strided(rand(t, *[s if t.int(0, 3) else 1 for s in want.shape][t.int(0, 1) * (want.dim() > 1):], dtype=x.dtype))
        acc = t.int(0, 1)
        if not acc and any(i is not None and i.dtype != torch.bool for i in idx):
            v = v.reshape(-1)[:1] if v.numel() else v  # equal values where one place is written twice
        t.check("index_put", x, idx, v, acc, torch=lambda x, i, v, a: A.index_put(x, i, v, bool(a)))
        if x.is_contiguous() and not any(i is not None and i.dtype == torch.bool for i in idx):
            t.check("index_put_out", t.out(x.shape, x.dtype), x, idx, v, bool(acc), torch=lambda x, i, v, a: A.index_put(x, i, v, a)) \
                if all(i is not None for i in idx) else None
    t.group("masks")
    for _ in range(150):
        x = t.strided(rand(t, *shape(t, 0, 3), dtype=t.pick(ALL)))
        m = t.strided(rand(t, *[s if t.int(0, 2) else 1 for s in x.shape][t.int(0, x.dim()):], dtype=torch.bool))
        t.check("masked_select", x, m, torch=torch.masked_select)
        src = t.strided(rand(t, max(x.numel(), 1) + t.int(0, 3), dtype=x.dtype))
        t.check("masked_scatter", x, m, src, torch=A.masked_scatter)
        full = t.strided(rand(t, *x.shape, dtype=torch.bool))
        if x.numel() and x.dim():
            t.check("masked_scatter_backward", x, full, list(x.shape), torch=A.masked_scatter_backward)


def scattering(t):
    t.group("scatter")
    for _ in range(200):
        dtype = t.pick(ALL)
        x = t.strided(rand(t, *shape(t, 0, 3, 6, False), dtype=dtype))
        d = any_dim(t, x)
        size = [t.int(1, s) for s in x.shape]
        n = x.shape[d] if x.dim() else 1
        idx = t.strided(torch.rand(size, generator=t.gen).argsort(d) % n)  # no place twice
        src = t.strided(rand(t, *[s + t.int(0, 1) for s in size], dtype=dtype))
        t.check("scatter_src_out", t.out(x.shape, dtype), x, d, idx, src, torch=torch.scatter, strides=False)
        t.check("scatter_out", t.out(x.shape, dtype), x, d, idx, src, torch=torch.scatter, strides=False)
        t.check("scatter_value_out", t.out(x.shape, dtype), x, d, idx, 1.0, torch=torch.scatter, strides=False)
    t.group("scatter_reduce and index_reduce")
    for _ in range(250):
        dtype = t.pick(REAL)
        how = t.pick(["sum", "prod", "mean", "amax", "amin"])
        own = t.int(0, 1)
        x = values(t, shape(t, 0, 3, 5, False), dtype)
        d = any_dim(t, x)
        size = [t.int(1, s) for s in x.shape]
        n = x.shape[d] if x.dim() else 1
        if size:
            size[d] = t.int(1, 9)
        idx = t.strided(torch.randint(0, n, size, generator=t.gen))
        src = values(t, [s + t.int(0, 1) for s in size], dtype)

        def ref(x, d, i, s, how, own):
            return torch.scatter_reduce(x, d, i, s, how, include_self=bool(own))
        t.check("scatter_reduce_two_out", t.out(x.shape, dtype), x, d, idx, src, how, own, torch=ref, strides=False)
        t.check("scatter_reduce_out", t.out(x.shape, dtype), x, d, idx, src, how, own, torch=ref, strides=False)
        if x.dim() and how != "sum":
            size = list(x.shape)
            size[d] = t.int(0, 7)
            args = x, d, torch.randint(0, n, (size[d],), generator=t.gen), values(t, size, dtype), how, own

            def reduce(x, d, i, s, how, own):
                return A.index_reduce(x, d, i, s, how, include_self=bool(own))
            try:
                reduce(*args)
            except RuntimeError as e:
                if "INTERNAL ASSERT" in str(e):  # torch's own bug with slices of one element
                    continue
            t.check("index_reduce", *args, torch=reduce)


def pooled(t, spatial, dtypes, largest=9):
    size = [t.int(1, 3) for _ in range(t.int(1, 2))] + [t.int(3, largest) for _ in range(spatial)]
    x = values(t, size, t.pick(dtypes))
    if spatial == 3 and x.dim() == 4:
        return x.contiguous()  # torch refuses what looks like channels_last of two dims
    if x.dim() == spatial + 2 and t.int(0, 1):
        x = x.to(memory_format=torch.channels_last if spatial == 2 else torch.channels_last_3d)
    return x


def window(t, spatial):
    k = [t.int(1, 3) for _ in range(spatial)]
    stride = t.pick([[], [t.int(1, 3)], [t.int(1, 3) for _ in range(spatial)]])
    pad = [t.int(0, v // 2) for v in k]
    return t.pick([k, k]) if spatial else k, stride, pad


def pooling(t):
    for spatial in (2, 3):
        t.group(f"pooling, {spatial} dims")
        for _ in range(150):
            x = pooled(t, spatial, FLOATS + ([torch.int64] if spatial == 2 else []), 9 if spatial == 2 else 6)
            k, s, p = window(t, spatial)
            t.check(f"max_pool{spatial}d_with_indices", x, k, s, p, [t.int(1, 2)], t.int(0, 1),
                    torch=lambda x, k, s, p, d, c: getattr(A, f"max_pool{spatial}d_with_indices")(x, k, s, p, d, bool(c)))
            x = pooled(t, spatial, FLOATS, 9 if spatial == 2 else 6)
            t.check(f"avg_pool{spatial}d", x, k, s, p, t.int(0, 1), t.int(0, 1), t.pick([None, 3]),
                    torch=lambda x, k, s, p, c, i, v: getattr(A, f"avg_pool{spatial}d")(x, k, s, p, bool(c), bool(i), v))
            size = [t.int(1, 7) for _ in range(spatial)]
            t.check(f"_adaptive_avg_pool{spatial}d", x, size, torch=getattr(A, f"_adaptive_avg_pool{spatial}d"))
            t.check(f"adaptive_max_pool{spatial}d", x, size, torch=getattr(A, f"adaptive_max_pool{spatial}d"))
            y = pooled(t, spatial, [torch.float32, torch.float64], 9 if spatial == 2 else 6)
            k = [t.int(1, 3) for _ in range(spatial)]
            size = [t.int(1, n - v + 1) for n, v in zip(y.shape[-spatial:], k)]
            lead = list(y.shape[:-spatial])
            r = torch.rand([1] * (2 - len(lead)) + lead + [spatial], generator=t.gen, dtype=y.dtype)
            op = f"fractional_max_pool{spatial}d"
            narrow = lambda x, k, s, r, op=op, ty=y.dtype: getattr(A, op)(x.to(ty), k, s, r.to(ty))  # noqa: E731
            t.check(op, y, k, size, r, torch=getattr(A, op), exact=narrow)
            z = pooled(t, spatial, [torch.float32, torch.float64], 6)
            _, at = getattr(A, f"max_pool{spatial}d_with_indices")(z.nan_to_num(), [2] * spatial, [2] * spatial)
            v = rand(t, *at.shape, dtype=z.dtype)
            if z.dim() == spatial + 2 and spatial == 2 and t.int(0, 1):
                v = v.to(memory_format=torch.channels_last)
            tail = [[2] * spatial, [0] * spatial] if spatial == 3 else []
            t.check(f"max_unpool{spatial}d", v, at.contiguous(), list(z.shape[-spatial:]), *tail, torch=getattr(A, f"max_unpool{spatial}d"))


def sampling(t):
    t.group("grid_sampler_3d")
    for _ in range(150):
        dtype = t.pick([torch.float32, torch.float64])
        n = t.int(1, 2)
        x = t.strided(rand(t, n, t.int(1, 3), *[t.int(1, 5) for _ in range(3)], dtype=dtype))
        g = t.strided(rand(t, n, *[t.int(1, 4) for _ in range(3)], 3, dtype=dtype))
        t.check("grid_sampler_3d", x, g, t.int(0, 1), t.int(0, 2), t.int(0, 1), torch=lambda x, g, m, p, a: A.grid_sampler_3d(x, g, m, p, bool(a)))


def bags(t):
    t.group("embedding_bag")
    for _ in range(200):
        dtype, ty = t.pick(FLOATS), t.pick([torch.int64, torch.int32])
        w = t.strided(rand(t, t.int(1, 9), t.int(1, 8), dtype=dtype))
        idx = torch.randint(0, w.shape[0], (t.int(0, 12),), generator=t.gen).to(ty)
        cuts = torch.randint(0, idx.numel() + 1, (t.int(0, 4),), generator=t.gen).sort()[0]
        last = t.int(0, 1)
        off = torch.cat([torch.zeros(1, dtype=torch.long), cuts] + ([torch.tensor([idx.numel()])] if last else [])).to(t.pick([ty, ty, torch.int64]))
        mode = t.int(0, 2)
        psw = rand(t, idx.numel(), dtype=dtype) if mode == 0 and t.int(0, 1) else None
        pad = t.pick([-1, -1, t.int(0, w.shape[0] - 1)])
        for op in ("_embedding_bag", "_embedding_bag_forward_only"):
            fn = getattr(A, op)

            def ref(w, i, o, s, m, sp, psw, last, pad, fn=fn):
                return fn(w, i, o, bool(s), m, bool(sp), psw, bool(last), pad)
            t.check(op, w, idx, off, 0, mode, 0, psw, last, pad, torch=ref)
    t.group("segment_reduce")
    for _ in range(150):
        x = values(t, shape(t, 1, 3, 6, False), t.pick(FLOATS))
        axis = t.int(0, x.dim() - 1)
        n, parts = x.shape[axis], t.int(1, 4)
        cuts = torch.randint(0, n + 1, list(x.shape[:axis]) + [parts - 1], generator=t.gen).sort()[0]
        ends = torch.cat([torch.zeros_like(cuts[..., :1]) if parts > 1 else cuts.new_zeros(list(x.shape[:axis]) + [1]), cuts,
                          cuts.new_full(list(x.shape[:axis]) + [1], n)], -1)
        lengths, offsets = (ends.diff(), None) if t.int(0, 1) else (None, ends)
        how = t.pick(["sum", "mean", "max", "min", "prod"])

        def seg(x, how, ln, i, off, axis, unsafe, init):
            return A.segment_reduce(x, how, lengths=ln, offsets=off, axis=axis, unsafe=bool(unsafe), initial=init)
        t.check("segment_reduce", x.contiguous(), how, lengths, None, offsets, axis, 0, t.pick([None, 0.5]), torch=seg)
    t.group("distances")
    for _ in range(150):
        dtype = t.pick([torch.float32, torch.float64])
        p = t.pick([0.0, 1.0, 2.0, 3.5, float("inf")])
        batch, m = shape(t, 0, 2, 3, False), t.int(1, 6)
        a = t.strided(rand(t, *batch, t.int(1, 6), m, dtype=dtype))
        b = t.strided(rand(t, *[s if t.int(0, 2) else 1 for s in batch], t.pick([1, 4, 30]), m, dtype=dtype))
        t.check("_cdist_forward", a, b, p, t.pick([None, 0, 1, 2]), torch=A._cdist_forward)
        t.check("_pdist_forward", rand(t, t.int(0, 6), m, dtype=dtype), p, torch=A._pdist_forward)


def transforms(t):
    t.group("fft")
    for _ in range(250):
        dtype = t.pick([torch.float32, torch.float64])
        size = [t.int(1, t.pick([4, 20, 90])) for _ in range(t.int(1, 4))]
        while torch.Size(size).numel() > 20000:
            size.pop()
        x = t.strided(rand(t, *size, dtype=dtype))
        dims = torch.randperm(len(size), generator=t.gen)[:t.int(1, len(size))].tolist()
        norm, flag = t.int(0, 2), t.int(0, 1)
        t.check("_fft_r2c", x, dims, norm, flag, torch=lambda x, d, n, o: A._fft_r2c(x, d, n, bool(o)))
        z = t.strided(rand(t, *size, dtype=torch.complex64 if dtype == torch.float32 else torch.complex128))
        t.check("_fft_c2c", z, dims, norm, flag, torch=lambda x, d, n, o: A._fft_c2c(x, d, n, bool(o)))
    for n in (1009, 4096, 2 * 1009, 1, 3 * 37, 961):
        z = rand(t, n, dtype=torch.complex64)
        t.check("_fft_c2c", z, [0], 0, 1, torch=lambda x, d, n, o: A._fft_c2c(x, d, n, bool(o)))


def random_numbers(t):
    """After the same seed, the same numbers."""
    def both(op, args, ref, what):
        seed = t.int(0, 1 << 40)
        t.shim.lib.shim_seed(ctypes.c_uint64(seed))
        torch.manual_seed(seed)
        for _ in range(2):
            got, want = t.shim.call(op, *args), ref()
            want = list(want) if isinstance(want, tuple) else [want]
            for g, w in zip(got, want):
                t.same(g, w, f"{what}, seed {seed}")

    options = [None, None, None]  # layout, device, pin_memory
    t.group("random numbers")
    for _ in range(60):
        size = shape(t, 0, 3, t.pick([3, 12]))
        dtype = t.pick(FLOATS)
        whole = t.pick(REAL)
        low, high = t.int(-20, 0), t.int(1, 60)
        if whole == torch.uint8:
            low = 0
        what = f"{dtype} {size}"
        both("rand", [size, dtype, *options], lambda: torch.rand(size, dtype=dtype), "rand " + what)
        both("randn", [size, dtype, *options], lambda: torch.randn(size, dtype=dtype), "randn " + what)
        both("randint", [high, size, whole, *options], lambda: torch.randint(high, size, dtype=whole), f"randint {whole} {size}")
        both("randint_low", [low, high, size, whole, *options], lambda: torch.randint(low, high, size, dtype=whole), f"randint_low {whole}")
        both("randint_low", [-2**63, 2**63 - 1, size, None, *options], lambda: torch.randint(-2**63, 2**63 - 1, size), "randint_low, 64 bits")
        both("randint_low_out", [t.out(size, torch.int64), -2**63, 2**63 - 1, size], lambda: torch.randint(-2**63, 2**63 - 1, size), "seeds")
        n = t.int(0, 50)
        both("randperm", [n, None, *options], lambda: torch.randperm(n), f"randperm {n}")
        x = t.strided(rand(t, *size, dtype=dtype), t.pick(["plain", "permuted"]))
        what = f"{dtype} {size}/{list(x.stride())}"
        both("rand_like", [x, None, *options, None], lambda: torch.rand_like(x), "rand_like " + what)
        both("randn_like", [x, None, *options, None], lambda: torch.randn_like(x), "randn_like " + what)
        both("randint_like", [x, 9, torch.int64, *options, None], lambda: torch.randint_like(x, 9, dtype=torch.int64), "randint_like " + what)
        both("uniform", [x, -1.5, 2.5, None], lambda: A.uniform(x, -1.5, 2.5), "uniform " + what)
        both("normal_functional", [x, 0.5, 2.0, None], lambda: A.normal_functional(x, 0.5, 2.0), "normal_functional " + what)
        p = torch.rand(size, generator=t.gen, dtype=t.pick([torch.float32, torch.float64]))
        kind = t.pick([torch.float32, torch.bool, torch.int64])
        both("bernoulli__Tensor", [t.out(size, kind), p, None], lambda: torch.empty(size, dtype=kind).bernoulli_(p), f"bernoulli_ {p.dtype}")
    for _ in range(30):
        size, kind = shape(t, 0, 3, 8), t.pick([torch.float32, torch.bool, torch.int64])
        both("bernoulli__float", [t.out(size, kind), 0.3, None], lambda: torch.empty(size, dtype=kind).bernoulli_(0.3), f"bernoulli_ {kind}")
        x = t.strided(rand(t, *size, dtype=t.pick(FLOATS)), t.pick(["plain", "permuted"]))
        both("exponential", [x, 1.5, None], lambda: A.exponential(x, 1.5), f"exponential {x.dtype}")
        train = t.pick([None, True, False])
        both("native_dropout", [x, 0.25, train], lambda: A.native_dropout(x, 0.25, train), f"dropout {x.dtype}")
    t.group("random numbers that are refused")
    refused = [("randperm", [2**28, None, *options]), ("randint", [300, [2], torch.float16, *options])]
    for op, args in refused:
        t.cases += 1
        try:
            t.shim.call(op, *args)
            t.complain(op + " is not refused")
        except RuntimeError as e:
            if "run with --torch" not in str(e):
                t.complain(f"{op}: {e}")


def cases(t):
    for part in (sorting, scans, searching, indexing, scattering, pooling, sampling, bags, transforms, random_numbers):
        part(t)
