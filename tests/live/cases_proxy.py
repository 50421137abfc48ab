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
            elif "float" in kind:
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
        a = t.rand(*batch, n, n, dtype=dtype) + 2 * torch.eye(n, dtype=dtype)
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


def refused(t):
    t.group("what is not there, and what is wrong")
    for op, args, text in (("aten::_linalg_svd", (torch.eye(2), 0, 1), "not there: aten::_linalg_svd"),
                           ("aten::median.dim", (torch.eye(2), 5, 0), "dimension 5 of a tensor with 2"),
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
    for group in (unique, bincount, median, fft, linalg, refused):
        group(t)
