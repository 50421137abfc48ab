"""Operators without a C function, which models call through the proxy executor (libshim/proxy.h)."""
import ctypes as C
import json

import torch

A = torch.ops.aten
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]


class Proxy:
    """Calls an operator ("aten::median.dim") as a model does: a list of one node, integers, tensors."""

    def __init__(self, shim):
        self.shim, self.lib, self.plain = shim, shim.lib, shim.call
        self.lib.shim_proxy_open.restype = C.c_void_p

    def call(self, op, *args):
        if "::" not in op:
            return self.plain(op, *args)
        schema = torch._C._get_schema(*(op.split(".") + [""])[:2])
        inputs, tensors, ints = [], [], []
        for p, v in zip(schema.arguments, args):
            kind = str(p.real_type)
            if v is None:
                arg = {"as_none": True}
            elif isinstance(v, torch.Tensor):
                arg = {"as_tensor": {"name": "a"}}
                tensors.append(self.shim.handle(v))
            elif isinstance(v, (list, tuple)):
                arg = {"as_ints": list(v)}
                ints += v
            elif "bool" in kind:
                arg = {"as_bool": bool(v)}
            elif "float" in kind or isinstance(v, float):
                arg = {"as_float": float(v)}
            elif isinstance(v, str):
                arg = {"as_string": v}
            else:
                arg = {"as_int": v}
                ints.append(v)
            inputs.append({"name": p.name, "arg": arg, "kind": 1})
        node = {"target": op, "inputs": inputs, "outputs": [{"as_tensor": {"name": f"o{k}"}} for k in range(len(schema.returns))]}
        return self.run(json.dumps({"nodes": [{"name": "o", "node": node}]}).encode(), tensors, ints, len(schema.returns))

    def run(self, text, tensors, ints, n_out):
        why = C.create_string_buffer(600)
        executor = self.lib.shim_proxy_open(text, C.c_size_t(len(text)), why, C.c_size_t(600))
        if not executor:
            raise RuntimeError("not there: " + why.value.decode())
        outs = [C.c_void_p() for _ in range(n_out)]
        for o in outs:
            self.lib.aoti_torch_new_uninitialized_tensor(C.byref(o))
        all_ = [h.value for h in tensors] + [o.value for o in outs]
        status = self.lib.aoti_torch_proxy_executor_call_function(
            C.c_void_p(executor), 0, len(ints), (C.c_int64 * max(len(ints), 1))(*ints), len(all_), (C.c_void_p * max(len(all_), 1))(*all_))
        error = self.lib.shim_last_error().decode() if status else ""
        results = [] if status else [self.shim.tensor(o) for o in outs]
        for h in tensors + outs:
            self.lib.aoti_torch_delete_tensor_object(h)
        self.lib.shim_proxy_close(C.c_void_p(executor))
        if status:
            raise RuntimeError(error)
        return results


def shape(t, low, high, largest=5, empty=True):
    return [t.int(0 if empty and t.int(0, 14) == 0 else 1, largest) for _ in range(t.int(low, high))]


def few(t, size, dtype, nans=False):
    """With many equal ones."""
    if dtype == torch.bool:
        return t.strided(torch.randint(0, 2, size, generator=t.gen) > 0)
    x = torch.randint(0 if dtype == torch.uint8 else -2, 3, size, generator=t.gen).to(dtype)
    if nans and dtype.is_floating_point and t.int(0, 2) == 0:
        x[torch.rand(x.shape, generator=t.gen) < 0.2] = float("nan")
    return t.strided(x)


def distinct(t, size, dtype):
    n = 1
    for s in size:
        n *= s
    return t.strided((torch.randperm(n, generator=t.gen) - n // 2).reshape(size).to(dtype))


def unique(t):
    t.group("_unique2")
    for _ in range(150):
        inverse, counts = t.int(0, 1), t.int(0, 1)
        # Every NaN is one of its own; which is which, is not said.
        x = few(t, shape(t, 0, 3, t.pick([3, 30])), t.pick(FLOATS + INTS + [torch.bool]), nans=not inverse)
        t.check("aten::_unique2", x, t.int(0, 1), inverse, counts, torch=lambda x, s, i, c: A._unique2(x, bool(s), bool(i), bool(c)))
    t.check("aten::_unique2", t.rand(3000).round(), 1, 1, 1, torch=lambda x, s, i, c: A._unique2(x, True, True, True))
    t.group("unique_consecutive")
    for _ in range(150):
        x = few(t, shape(t, 0, 3, t.pick([3, 30])), t.pick(FLOATS + INTS + [torch.bool]), nans=True)
        inverse, counts, dim = t.int(0, 1), t.int(0, 1), None
        if x.dim() and t.int(0, 1):
            dim = t.int(-x.dim(), x.dim() - 1)
        t.check("aten::unique_consecutive", x, inverse, counts, dim,
                torch=lambda x, i, c, d: A.unique_consecutive(x, bool(i), bool(c), d))
    t.group("unique_dim")
    for _ in range(200):
        x = few(t, shape(t, 1, 3, t.pick([2, 3, 12])), t.pick(FLOATS + INTS + [torch.bool]))
        dim = t.int(-x.dim(), x.dim() - 1)
        t.check("aten::unique_dim", x, dim, t.int(0, 1), t.int(0, 1), t.int(0, 1),
                torch=lambda x, d, s, i, c: A.unique_dim(x, d, bool(s), bool(i), bool(c)))
        t.check("aten::unique_dim_consecutive", x, dim, 1, 1, torch=lambda x, d, i, c: A.unique_dim_consecutive(x, d, True, True))


def bincount(t):
    t.group("bincount")
    for _ in range(100):
        n = t.int(0, 40)
        x = t.strided(torch.randint(0, t.int(1, 9), (n,), generator=t.gen).to(t.pick(INTS)))
        w = t.pick([None, t.strided(t.rand(n, dtype=t.pick([torch.float32, torch.float64, torch.int64])))])
        t.check("aten::bincount", x, w, t.int(0, 12), torch=lambda x, w, m: A.bincount(x, w, m), exact=lambda x, w, m: A.bincount(x, w, m))
    t.check("aten::bincount", torch.tensor([1, -1]), None, 0, torch=A.bincount)
    t.check("aten::bincount", torch.zeros(2, 2, dtype=torch.int64), None, 0, torch=A.bincount)


def median(t):
    t.group("median.dim, nanmedian.dim")
    for _ in range(200):
        x = distinct(t, shape(t, 0, 3, t.pick([4, 30])), t.pick([torch.float32, torch.float64, torch.int64, torch.int32]))
        if x.dtype.is_floating_point and t.int(0, 1):
            x[torch.rand(x.shape, generator=t.gen) < 0.1] = float("nan")
        d, keep = t.int(-max(x.dim(), 1), max(x.dim(), 1) - 1), t.int(0, 1)
        t.check("aten::median.dim", x, d, keep, torch=lambda x, d, k: A.median.dim(x, d, bool(k)))
        if not (x.isnan().all(d) if x.dim() else x.isnan()).any():  # which one of several NaN is not said
            t.check("aten::nanmedian.dim", x, d, keep, torch=lambda x, d, k: A.nanmedian.dim(x, d, bool(k)))
    for dtype in FLOATS + INTS:  # ties: the value, not the place
        x = few(t, [5, 7], dtype)
        got = t.shim.call("aten::median.dim", x, 1, False)
        t.same(got[0], A.median.dim(x, 1, False)[0], f"median.dim of {dtype}")
        t.same(x.gather(1, got[1][:, None])[:, 0], got[0], f"median.dim of {dtype}: where it is")


def fft(t):
    t.group("_fft_c2r")
    for _ in range(200):
        size = shape(t, 1, 4, t.pick([3, 9, 20]), empty=False)
        dims = torch.randperm(len(size), generator=t.gen).tolist()[:t.int(1, len(size))]
        last = size[dims[-1]]
        x = t.strided(A._fft_r2c(t.rand(*size, dtype=t.pick([torch.float32, torch.float64])), dims, 0, True))
        if len(dims) == 1 and t.int(0, 1):  # no Hermitian input; what several dims make of one, torch leaves open
            x = t.strided(t.rand(*x.shape, dtype=x.dtype))
        t.check("aten::_fft_c2r", x, dims, t.int(0, 2), last, torch=lambda x, d, n, m: A._fft_c2r(x, d, n, m))


def linalg(t):
    t.group("linalg: det, slogdet, inv_ex, solve_ex, cholesky_ex")
    for _ in range(120):
        n, dtype = t.int(1, t.pick([3, 8, 20])), t.pick([torch.float32, torch.float64])
        batch = shape(t, 0, 2, 3)
        # In float32 LAPACK's errors are as large as torch's, which of a bad condition is luck.
        a = t.rand(*batch, n, n, dtype=dtype) + (2 if dtype == torch.float64 else 2 * n) * torch.eye(n, dtype=dtype)
        a = t.strided(t.pick([a, a.mT.contiguous().mT]))
        spd = t.strided(a @ a.mT + torch.eye(n, dtype=dtype))
        b = t.strided(t.rand(*t.pick([batch + [n, t.int(1, 4)], [n, t.int(1, 4)], [n], batch + [n]]), dtype=dtype))
        upper = t.int(0, 1)
        t.check("aten::_linalg_det", a, torch=A._linalg_det)
        t.check("aten::_linalg_slogdet", a, torch=A._linalg_slogdet)
        t.check("aten::linalg_inv_ex", a, 0, torch=lambda a, e: A.linalg_inv_ex(a))
        t.check("aten::linalg_cholesky_ex", spd, upper, 0, torch=lambda a, u, e: A.linalg_cholesky_ex(a, upper=bool(u)))
        t.check("aten::_linalg_solve_ex", a, b, torch=A._linalg_solve_ex)
    t.check("aten::linalg_cholesky_ex", torch.tensor([[1.0, 0.0], [0.0, -1.0]]), 0, 1, torch=lambda a, u, e: A.linalg_cholesky_ex(a, check_errors=True))
    t.check("aten::linalg_inv_ex", torch.tensor([[1.0, 2.0], [2.0, 4.0]]), 1, torch=lambda a, e: A.linalg_inv_ex(a, check_errors=True))
    for info, api in ([0], "linalg.inv"), ([0, 2], "linalg.inv"), ([1], "linalg.cholesky"):
        t.check("aten::_linalg_check_errors", torch.tensor(info, dtype=torch.int32), api, False,
                torch=lambda i, a, m: A._linalg_check_errors(i, a, is_matrix=False) or ())


WIDE = [torch.float32, torch.float64, torch.complex64, torch.complex128]


def matrices(t, dtype, m, n, batch=None):
    """Of any strides, now and then without rows, columns or matrices."""
    return t.strided(t.rand(*(shape(t, 0, 2, 3) if batch is None else batch), m, n, dtype=dtype))


def size(t, largest):
    return t.pick([0] + 8 * [t.int(1, largest)])


def alike(t, op, args, got, want):
    """Shapes, dtypes, strides: of results whose values are not determined."""
    t.cases += 1
    if got is None:
        t.complain(f"{op}: it failed")
        return False
    for k, (g, w) in enumerate(zip(got, want)):
        text = t.differ(torch.zeros_like(g), torch.zeros_like(w), torch.zeros_like(w), True, 0)
        if text:
            t.complain(f"{op}({', '.join(t.brief(a) for a in args)}): result {k}: {text}")
            return False
    return True


def near(t, what, x, y):
    t.cases += 1
    bound = 60 * torch.finfo(x.dtype).eps * max(1.0, y.abs().max().item() if y.numel() else 1) * max([1, *y.shape[-2:]])
    if x.shape != y.shape or (y.numel() and not (x - y).abs().max().item() <= bound):
        t.complain(f"{what}: {x.shape} off by {(x - y).abs().max().item() if x.shape == y.shape and y.numel() else '?'}")


def spectra(t):
    t.group("linalg: svd, eigh, eig, qr: what their vectors make, for their signs are free")
    for _ in range(100):
        dtype, (m, n) = t.pick(WIDE), (size(t, t.pick([3, 9])), size(t, 9))
        a, full = matrices(t, dtype, m, n), t.int(0, 1)
        args = (a, full, 1)
        got, want = t.shim.call("aten::_linalg_svd", *args), A._linalg_svd(a, bool(full), True)
        if alike(t, "_linalg_svd", args, got, want):
            k = min(m, n)
            near(t, "svd", (got[0][..., :k] * got[1].unsqueeze(-2)) @ got[2][..., :k, :], a)
            near(t, "svd: values", got[1], want[1])
            near(t, "svd: U", got[0].mH @ got[0], want[0].mH @ want[0])
        t.check("aten::_linalg_svd", a, full, 0, torch=lambda a, f, c: A._linalg_svd(a, bool(f), False), slack=1e-5)
        for mode in ("reduced", "complete", "r"):
            t.check("aten::linalg_qr", a, mode, torch=A.linalg_qr, slack=1e-5)
        s = matrices(t, dtype, n, n)
        uplo = t.pick(["L", "U"])
        got, want = t.shim.call("aten::_linalg_eigh", s, uplo, 1), A._linalg_eigh(s, uplo, True)
        if alike(t, "_linalg_eigh", (s, uplo), got, want):
            near(t, "eigh: values", got[0], want[0])
            near(t, "eigh", (got[1] * got[0].unsqueeze(-2)) @ got[1].mH, (want[1] * want[0].unsqueeze(-2)) @ want[1].mH)
        t.check("aten::_linalg_eigh", s, uplo, 0, torch=lambda s, u, v: A._linalg_eigh(s, u, False), slack=1e-5)
        got, want = t.shim.call("aten::linalg_eig", s), A.linalg_eig(s)
        if alike(t, "linalg_eig", (s,), got, want):
            near(t, "eig", s.to(got[1].dtype) @ got[1], got[1] * got[0].unsqueeze(-2))
            near(t, "eig: trace", got[0].sum(-1), s.diagonal(0, -2, -1).sum(-1).to(got[0].dtype))
        alike(t, "_linalg_eigvals", (s,), t.shim.call("aten::_linalg_eigvals", s), [A._linalg_eigvals(s)])


def systems(t):
    t.group("linalg: lu, ldl, triangular and least squares, householder_product, pinv, matrix_exp, cholesky")
    for _ in range(100):
        dtype, m, n, k = t.pick(WIDE), size(t, 9), size(t, 9), size(t, 4)
        batch = shape(t, 0, 2, 3)
        a = t.strided(matrices(t, dtype, n, n, batch) / 3 + 3 * torch.eye(n, dtype=dtype))
        left, flag, unit = t.int(0, 1), t.int(0, 1), t.int(0, 1)
        b = matrices(t, dtype, *((n, k) if left else (k, n)), batch=t.pick([batch, batch[1:]]))
        w = matrices(t, dtype, m, n, batch)
        t.check("aten::linalg_lu_factor_ex", w, 1, 0, torch=lambda a, p, c: A.linalg_lu_factor_ex(a), slack=1e-5)
        t.check("aten::linalg_lu", w, 1, torch=lambda a, p: A.linalg_lu(a), slack=1e-5)
        lu = A.linalg_lu_factor_ex(a)
        t.check("aten::linalg_lu_solve", lu[0], lu[1], b, left, flag, slack=1e-5,
                torch=lambda x, p, b, le, f: A.linalg_lu_solve(x, p, b, left=bool(le), adjoint=bool(f)))
        t.check("aten::linalg_solve_triangular", a, b, flag, left, unit, slack=1e-5,
                torch=lambda a, b, u, le, un: A.linalg_solve_triangular(a, b, upper=bool(u), left=bool(le), unitriangular=bool(un)))
        t.check("aten::_linalg_solve_ex", a, b, left, 0, torch=lambda a, b, le, c: A._linalg_solve_ex(a, b, left=bool(le)), slack=1e-5)
        for op in (A._linalg_det, A._linalg_slogdet):
            t.check(op.default.name(), a, torch=op, slack=1e-5)
        t.check("aten::linalg_inv_ex", a, 0, torch=lambda a, e: A.linalg_inv_ex(a), slack=1e-5)
        spd = t.strided(a @ a.mH)
        t.check("aten::linalg_cholesky_ex", spd, flag, 0, torch=lambda a, u, e: A.linalg_cholesky_ex(a, upper=bool(u)), slack=1e-5)
        t.check("aten::cholesky", spd, flag, torch=lambda a, u: A.cholesky(a, bool(u)), slack=1e-5)
        h = t.strided((w.mH @ w) if unit else w.mT @ w)
        args = (h, unit, 0)
        ldl, want = t.shim.call("aten::linalg_ldl_factor_ex", *args), A.linalg_ldl_factor_ex(h, hermitian=bool(unit))
        rhs = matrices(t, dtype, n, k, batch)
        if alike(t, "linalg_ldl_factor_ex", args, ldl, want) and m > n:  # pivots differ, what they solve does not
            x = A.linalg_ldl_solve(ldl[0], ldl[1], rhs, hermitian=bool(unit))
            near(t, "ldl", h @ x / max(1.0, x.abs().max().item() if x.numel() else 1), rhs / max(1.0, x.abs().max().item() if x.numel() else 1))
            t.check("aten::linalg_ldl_solve", want[0], want[1], rhs, unit, slack=1e-2,
                    torch=lambda x, p, b, h: A.linalg_ldl_solve(x, p, b, hermitian=bool(h)))
        t.check("aten::linalg_matrix_exp", (a - 2 * torch.eye(n, dtype=dtype)).contiguous(), torch=A.linalg_matrix_exp, slack=1e-5)
        if m >= n:
            q, tau = torch.geqrf(w)
            t.check("aten::linalg_householder_product", t.strided(q), tau, torch=A.linalg_householder_product, slack=1e-5)
        t.check("aten::linalg_pinv.atol_rtol_tensor", w, None, torch.tensor(1e-5, dtype=torch.float64), 0, slack=1e-3,
                torch=lambda w, at, rt, h: A.linalg_pinv.atol_rtol_tensor(w, atol=at, rtol=rt))
        for driver in (None, "gels", "gelsd", "gelss", "gelsy") if m and n and k else ():  # torch itself falls over nothing
            t.check("aten::linalg_lstsq", w, matrices(t, dtype, m, k, batch), None, driver, slack=1e-3,
                    torch=lambda w, b, r, d: A.linalg_lstsq(w, b, r, driver=d))


def resampled(t):
    t.group("_upsample_bilinear2d_aa, _upsample_bicubic2d_aa")
    for _ in range(60):
        x = t.rand(t.int(0, 2), t.int(1, 3), t.int(1, 9), t.int(1, 9), dtype=t.pick([torch.float32, torch.float64]))
        x = t.pick([x, x.contiguous(memory_format=torch.channels_last)])
        h, w = x.shape[2:]
        args = x, [t.int(1, 12), t.int(1, 12)], t.int(0, 1), None, None
        if t.int(0, 1):
            args = x, [max(int(h * 0.7), 1), int(w * 1.5)], 0, 0.7, 1.5
        for op in A._upsample_bilinear2d_aa, A._upsample_bicubic2d_aa:
            t.check(op.default.name(), *args, torch=lambda x, s, a, h, w, op=op: op(x, s, bool(a), h, w), slack=1e-5)


def multinomial(t):
    t.group("multinomial: what torch draws after the same seed")
    for _ in range(40):
        w = t.rand(*shape(t, 1, 2, 8, empty=False), dtype=t.pick([torch.float32, torch.float64])).abs() + 0.01
        again = t.int(0, 1)
        n = t.int(1, 12) if again else t.int(1, w.shape[-1])
        t.shim.lib.shim_seed(C.c_uint64(5))
        torch.manual_seed(5)
        t.check("aten::multinomial", w, n, again, torch=lambda w, n, r: A.multinomial(w, n, bool(r)), exact=lambda *a: None)
    t.check("aten::multinomial", torch.tensor([0.5, -1.0]), 1, 0, torch=lambda w, n, r: A.multinomial(w, n, False))


def refused(t):
    t.group("what is not there, and what is wrong")
    for op, args, text in (("aten::_linalg_svd", (torch.tensor([[1.0, float("nan")]]), 0, 1), "non-finite"),
                           ("aten::_linalg_eigh", (torch.tensor([[float("inf")]]), "L", 1), "non-finite"),
                           ("aten::linalg_eig", (torch.tensor([[float("nan")]]),), "infs or NaNs"),
                           ("aten::linalg_lu_factor_ex", (torch.eye(2), 0, 0), "pivoting"),
                           ("aten::fft_fftshift", (torch.eye(2),), "not there: aten::fft_fftshift"),
                           ("aten::median.dim", (torch.eye(2), 5, 0), "dimension 5 is out of range for a 2D"),
                           ("aten::_unique2", (torch.tensor(1j), 1, 0, 0), "")):
        t.cases += 1
        try:
            t.shim.call(op, *args)
            t.complain(f"{op}: taken")
        except RuntimeError as e:
            if text not in str(e):
                t.complain(f"{op}: {e}")


def cases(t):
    t.shim.call = Proxy(t.shim).call
    for group in (unique, bincount, median, fft, linalg, spectra, systems, resampled, multinomial, refused):
        group(t)
