#!/usr/bin/env python3
"""The operators of libpt2shim.so against those of torch, one call at a time, in one process.

    shim_driver.py LIBPT2SHIM [FILE...]      # FILE: cases_mm.py ...; all of them when none is given

Each cases_*.py has `def cases(t)`, which calls t.check() for every case:

    t.check("mm_out", t.out((3, 5)), a, b, torch=lambda a, b: torch.mm(a, b))

The C signature is read from the headers of the installed torch, so that arguments are given as Python has them: a tensor, a
list, a number, a string, None where the C function takes NULL. A tensor made by t.out() is written by the operator (its first
argument) and compared afterwards; other results are its ret handles. `torch` gets the arguments that are not outputs.

What is compared: shapes, strides, dtypes; integers and bools exactly; floats by their error against torch in float64 (`exact`,
by default the same function with its floats widened), which may be twice torch's own plus 1e-6 (and half a unit of the output's dtype, for two
roundings of one number; four of less than 64 values). One line of TAP for each group (t.group), with the first complaint behind it.
"""
import ctypes as C
import glob
import os
import re
import sys
import zlib

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(os.path.dirname(torch.__file__), "include/torch/csrc/inductor/aoti_torch")
DTYPES = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6,
          torch.float64: 7, torch.complex32: 8, torch.complex64: 9, torch.complex128: 10, torch.bool: 11, torch.bfloat16: 15,
          torch.float8_e5m2: 23, torch.float8_e4m3fn: 24, torch.uint16: 27, torch.uint32: 28, torch.uint64: 29}
NAMES = {v: k for k, v in DTYPES.items()}
WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}
NUMBERS = {"int64_t": C.c_int64, "int32_t": C.c_int32, "double": C.c_double, "bool": C.c_bool, "int": C.c_int32,
           "uint64_t": C.c_uint64, "float": C.c_float}


def signatures():
    """Name -> list of (type, parameter)."""
    found = {}
    for path in ("generated/c_shim_cpu.h", "generated/c_shim_aten.h", "c/shim_cpu.h", "c/shim.h", "c/shim_deprecated.h"):
        path = os.path.join(INCLUDE, path)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", f.read(), flags=re.S)
        for name, params in re.findall(r"\bAOTITorchError\s+(aoti_torch_\w+)\s*\(([^)]*)\)", text):
            found[name] = [(p.strip().rsplit(None, 1)[0].replace("const ", ""), p.strip().rsplit(None, 1)[1])
                           for p in params.split(",") if p.strip()]
            found[name] = [(ty + "*" * p.count("*"), p.lstrip("*")) for ty, p in found[name]]
    return found


class Handle(C.c_void_p):
    """A tensor of the library's that is released after the call."""


class Shim:
    """The library: handles of torch's tensors, calls, results as torch's tensors."""

    def __init__(self, path):
        self.lib = C.CDLL(path)  # RTLD_LOCAL: torch's own functions of these names stay what they are
        self.sig = signatures()
        self.lib.shim_last_error.restype = C.c_char_p

    def has(self, name):
        return hasattr(self.lib, "aoti_torch_" + name) or hasattr(self.lib, "aoti_torch_cpu_" + name)

    def _get(self, handle, what, ctype):
        v = ctype()
        assert getattr(self.lib, "aoti_torch_get_" + what)(handle, C.byref(v)) == 0, what
        return v.value if hasattr(v, "value") else v

    def handle(self, t):
        n = t.dim()
        h = Handle()
        err = self.lib.aoti_torch_create_tensor_from_blob(
            C.c_void_p(t.untyped_storage().data_ptr()), C.c_int64(n), (C.c_int64 * max(n, 1))(*t.shape),
            (C.c_int64 * max(n, 1))(*t.stride()), C.c_int64(t.storage_offset()), C.c_int32(DTYPES[t.dtype]), C.c_int32(0),
            C.c_int32(-1), C.byref(h))
        assert err == 0, self.lib.shim_last_error()
        return h

    def tensor(self, h):
        """A copy as a torch tensor, strides and all; None of an undefined one."""
        if not h.value:
            return None
        defined = C.c_bool()
        self.lib.aoti_torch_is_defined(h, C.byref(defined))
        if not defined.value:
            return None
        n = self._get(h, "dim", C.c_int64)
        dtype = NAMES[self._get(h, "dtype", C.c_int32)]
        ptr = C.POINTER(C.c_int64)()
        self.lib.aoti_torch_get_sizes(h, C.byref(ptr))
        size = [ptr[i] for i in range(n)]
        self.lib.aoti_torch_get_strides(h, C.byref(ptr))
        stride = [ptr[i] for i in range(n)]
        data = self._get(h, "data_ptr", C.c_void_p)
        out = torch.empty_strided(size, stride, dtype=dtype)
        bytes_ = out.untyped_storage().nbytes()
        if bytes_ and out.numel():
            C.memmove(out.untyped_storage().data_ptr(), data, bytes_)
        return out

    def _array(self, ty, values, keep):
        if ty == "AtenTensorHandle":
            hs = [self.handle(v) for v in values]
            keep.extend(hs)
            a = (C.c_void_p * max(len(hs), 1))(*[h.value for h in hs])
        elif ty == "AtenTensorHandle*":  # a list of optional tensors
            hs = [None if v is None else self.handle(v) for v in values]
            keep.extend(h for h in hs if h)
            boxes = [None if h is None else C.c_void_p(h.value) for h in hs]
            keep.append(boxes)
            a = (C.c_void_p * max(len(hs), 1))(*[None if b is None else C.addressof(b) for b in boxes])
        elif ty == "double*":  # a list of optional scalars
            boxes = [None if v is None else C.c_double(v) for v in values]
            keep.append(boxes)
            a = (C.c_void_p * max(len(boxes), 1))(*[None if b is None else C.addressof(b) for b in boxes])
        else:
            if ty == "int32_t":
                values = [DTYPES.get(v, v) for v in values]
            a = (NUMBERS[ty] * max(len(values), 1))(*values)
        keep.append(a)
        return a

    def call(self, op, *args):
        """Returns (outputs written, results) or raises RuntimeError with the shim's text."""
        name = next(n for n in ("aoti_torch_cpu_" + op, "aoti_torch_" + op, op) if n in self.sig)
        params, keep, cargs, rets, outs = self.sig[name], [], [], [], []
        args, i = list(args), 0
        while i < len(params):
            ty, p = params[i]
            if re.fullmatch(r"ret\d*", p) and ty.endswith("*"):
                box = C.c_void_p() if "Handle" in ty else NUMBERS[ty[:-1]]()
                rets.append(box)
                cargs.append(C.byref(box))
                i += 1
                continue
            if p.endswith(("device_index_", "device_index")) and ty == "int32_t":
                cargs.append(C.c_int32(0))
                i += 1
                continue
            v = args.pop(0)
            keep.append(v)
            stars = ty.count("*")
            base = ty.replace("*", "")
            after = params[i + 1][1] if i + 1 < len(params) else ""
            listed = stars and base != "char" and (after.endswith(("_len_", "num_indices")) or after == p.removesuffix("_ptr") + "_size")
            if listed:
                n = 0 if v is None else len(v)
                if v is None:
                    cargs.append(C.c_void_p())
                elif stars == 2 and not (base == "AtenTensorHandle" or p.endswith(("scalars", "op_args"))):
                    inner = self._array(base, v, keep)  # an optional list
                    box = C.c_void_p(C.addressof(inner))
                    keep.append(box)
                    cargs.append(C.byref(box))
                else:
                    cargs.append(self._array(ty[:-1], v, keep))
                cargs.append(C.c_int64(n))
                i += 2
                continue
            if base == "AtenTensorHandle":
                if v is None:
                    cargs.append(C.c_void_p())
                else:
                    h = self.handle(v)
                    keep.append(h)
                    if getattr(v, "is_out", False):
                        outs.append((v, h))
                    cargs.append(C.byref(h) if stars else h)
            elif base == "char":
                if v is None:
                    cargs.append(C.c_void_p())
                else:
                    s = C.c_char_p(v.encode())
                    keep.append(s)
                    cargs.append(C.byref(s) if stars == 2 else s)
            elif base == "AtenGeneratorHandle" or (stars and v is None):
                cargs.append(C.c_void_p())
            elif stars:
                box = NUMBERS[base](DTYPES.get(v, v) if isinstance(v, torch.dtype) else v)
                keep.append(box)
                cargs.append(C.byref(box))
            else:
                cargs.append(NUMBERS[base](DTYPES[v] if isinstance(v, torch.dtype) else v))
            i += 1
        assert not args, f"{name}: {len(args)} arguments too many"
        status = getattr(self.lib, name)(*cargs)
        text = self.lib.shim_last_error().decode() if status else ""
        results = []
        for box in rets:
            if isinstance(box, C.c_void_p):
                results.append(None if status else self.tensor(box))
                if not status and box.value:
                    self.lib.aoti_torch_delete_tensor_object(box)
            else:
                results.append(box.value)
        self._release(keep)
        if status:
            raise RuntimeError(text)
        return [o[0] for o in outs] + results

    def _release(self, keep):
        for k in keep:
            if isinstance(k, Handle):
                self.lib.aoti_torch_delete_tensor_object(k)


class Tester:
    def __init__(self, shim):
        self.shim, self.n, self.failed = shim, 0, 0
        self.name, self.cases, self.wrong = None, 0, []
        self.gen = torch.Generator().manual_seed(20)

    # ---- making operands ----

    def rand(self, *size, dtype=torch.float32):
        """Normal floats, small integers, bools."""
        if dtype.is_floating_point or dtype.is_complex:
            wide = torch.complex128 if dtype.is_complex else torch.float64
            return torch.randn(size, generator=self.gen, dtype=wide).to(dtype)
        if dtype == torch.bool:
            return torch.randint(0, 2, size, generator=self.gen) > 0
        return torch.randint(0 if dtype == torch.uint8 else -9, 10, size, generator=self.gen).to(dtype)

    def int(self, low, high):
        """low <= n <= high"""
        return int(torch.randint(low, high + 1, (), generator=self.gen))

    def pick(self, values):
        return values[self.int(0, len(values) - 1)]

    def strided(self, x, how=None):
        """The same values in other strides: permuted, with gaps, from an offset on."""
        how = how or self.pick(["plain", "permuted", "gaps", "offset"])
        if how == "permuted" and x.dim() > 1:
            order = torch.randperm(x.dim(), generator=self.gen).tolist()
            back = [order.index(i) for i in range(x.dim())]
            return x.permute(order).contiguous().permute(back)
        if how == "gaps" and x.dim():
            wide = x.new_zeros([s * 2 for s in x.shape])
            view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
            return view.copy_(x)
        if how == "offset":
            flat = x.new_zeros(x.numel() + 3)
            return flat[3:].view(x.shape).copy_(x)
        return x

    def out(self, size, dtype=torch.float32, stride=None):
        """An output for the operator to write; filled with what must not stay."""
        t = torch.empty(size, dtype=dtype) if stride is None else torch.empty_strided(size, stride, dtype=dtype)
        if dtype.is_floating_point or dtype.is_complex:
            t.fill_(float("nan"))
        else:
            t.fill_(77)
        t.is_out = True
        return t

    # ---- judging ----

    def group(self, name):
        self.end_group()
        self.name, self.cases, self.wrong = name, 0, []
        self.gen.manual_seed(zlib.crc32(name.encode()))  # the same cases whatever ran before

    def end_group(self):
        if self.name is None:
            return
        self.n += 1
        if self.wrong:
            self.failed += 1
            print(f"not ok {self.n} - {self.name}: {len(self.wrong)} of {self.cases} cases")
            for w in self.wrong[:int(os.environ.get("SHIM_SHOW", "5"))]:
                print("#   " + w)
        else:
            print(f"ok {self.n} - {self.name}: {self.cases} cases")
        sys.stdout.flush()
        self.name = None

    def complain(self, what):
        self.wrong.append(what)

    def check(self, op, *args, torch=None, exact=None, strides=True, slack=1e-6, label=""):
        """One call. torch: the reference on the same operands; exact: in float64, same as torch widened when not given.
        strides=False: outputs whose strides are the caller's. Returns the shim's results (None: it failed)."""
        self.cases += 1
        ins = [a for a in args if not getattr(a, "is_out", False)]
        what = f"{op}({', '.join(self.brief(a) for a in args)}){label}"
        try:
            want = torch(*[self.copy(a) for a in ins])
        except Exception as e:  # torch refuses: so must we
            want = e
        try:
            got = self.shim.call(op, *args)
        except RuntimeError as e:
            if not isinstance(want, Exception):
                self.complain(f"{what}: {e}")
            return None
        if isinstance(want, Exception):
            self.complain(f"{what}: torch refuses it: {str(want).splitlines()[0]}")
            return got
        want = list(want) if isinstance(want, (tuple, list)) else [want]
        wide = (exact or torch)(*[self.widen(a) for a in ins])
        wide = list(wide) if isinstance(wide, (tuple, list)) else [wide]
        for k, (g, w) in enumerate(zip(got, want)):
            text = self.differ(g, w, wide[k] if k < len(wide) else w, strides, slack)
            if text:
                self.complain(f"{what}: result {k}: {text}")
                break
        return got

    def same(self, got, want, what, strides=True):
        """Results that were got by other ways, exactly."""
        self.cases += 1
        text = self.differ(got, want, want, strides, 0)
        if text:
            self.complain(f"{what}: {text}")

    @staticmethod
    def brief(a):
        if isinstance(a, torch.Tensor):
            return f"{str(a.dtype)[6:]}{list(a.shape)}/{list(a.stride())}"
        if isinstance(a, (list, tuple)):
            return "[" + ", ".join(Tester.brief(x) for x in a) + "]"
        return str(a)

    @staticmethod
    def copy(a):
        return a.clone() if isinstance(a, torch.Tensor) and a.is_contiguous() else a

    @staticmethod
    def widen(a):
        if isinstance(a, torch.Tensor):
            return a.to(WIDE.get(a.dtype, a.dtype))
        if isinstance(a, (list, tuple)):
            return type(a)(Tester.widen(x) for x in a)
        return a

    @staticmethod
    def differ(got, want, exact, strides, slack):
        if not isinstance(want, torch.Tensor):
            if want is None or got is None:
                return None if (want is None) == (got is None) else f"{got} instead of {want}"
            return None if got == want else f"{got} instead of {want}"
        if got is None:
            return "not defined" if want.numel() else None
        if got.shape != want.shape:
            return f"shape {list(got.shape)} instead of {list(want.shape)}"
        if got.dtype != want.dtype:
            return f"dtype {got.dtype} instead of {want.dtype}"
        if strides and got.numel() and any(a != b and n > 1 for a, b, n in zip(got.stride(), want.stride(), want.shape)):
            return f"strides {list(got.stride())} instead of {list(want.stride())}"
        if not (want.dtype.is_floating_point or want.dtype.is_complex):
            bad = got != want
            return f"{int(bad.sum())} values, the first {got[bad][0]} instead of {want[bad][0]}" if bad.any() else None
        if not want.numel():
            return None
        wide = torch.complex128 if want.dtype.is_complex else torch.float64
        g, w, e = got.to(wide), want.to(wide), exact.to(wide)
        special = ~torch.isfinite(w)
        if special.any():
            bad = special & ~((g == w) | (g.isnan() & w.isnan()))
            if bad.any():
                return f"{int(bad.sum())} values, the first {g[bad][0]} instead of {w[bad][0]}"
        if (~torch.isfinite(g) & ~special).any():
            return f"{int((~torch.isfinite(g)).sum())} values are not finite"
        keep = ~special & torch.isfinite(e)
        if not keep.any():
            return None
        ours, theirs = (g - e)[keep].abs().max().item(), (w - e)[keep].abs().max().item()
        scale = max(e[keep].abs().max().item(), 1e-30)
        # Of few values torch's error may be small by luck.
        half = torch.finfo(want.dtype).eps * (0.5 if want.numel() >= 64 else 6) * scale
        bound = 2 * theirs + slack * min(max(scale, 0.1), 1) + half
        return None if ours <= bound else f"error {ours:.3g}, torch's {theirs:.3g}, largest value {scale:.3g}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    files = sys.argv[2:] or sorted(glob.glob(os.path.join(HERE, "cases_*.py")))
    torch.manual_seed(1)
    torch.set_num_threads(1)
    t = Tester(Shim(sys.argv[1]))
    for path in files:
        scope = {"__name__": os.path.basename(path)[:-3], "__file__": path}
        with open(path, encoding="utf-8") as f:
            exec(compile(f.read(), path, "exec"), scope)  # noqa: S102 - our own files
        scope["cases"](t)
    t.end_group()
    print(f"1..{t.n}")
    sys.exit(1 if t.failed else 0)


if __name__ == "__main__":
    main()
