"""The operators of libcommon/core/aten, called from Python with torch's tensors (BUILD/tests-lib/aten.so).

    lib = Aten(path)
    lib.overloads()                                  # ["add.Tensor", ...]
    out = lib.call("add.Tensor", (x, y), {"alpha": 2})      # a tensor, a number, a list ...: as the overload of torch returns it
    lib.call("add.Tensor", (x, y), shapes=True)      # tensors of the meta device

An operator that refuses raises Refused with its text.
"""
import ctypes as C

import torch

from shim_driver import DTYPES, NAMES

DIMS = 64
NONE, TENSOR, INT, FLOAT, BOOL, COMPLEX, STRING, DTYPE, LAYOUT, FORMAT, DEVICE, LIST = range(12)
FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3}


class Refused(Exception):
    pass


class Storage(C.Structure):
    _fields_ = [("refs", C.c_int), ("data", C.c_void_p), ("bytes", C.c_uint64)]


class Tensor(C.Structure):
    _fields_ = [("storage", C.POINTER(Storage)), ("next_made", C.c_void_p), ("offset", C.c_int64), ("dtype", C.c_int32),
                ("n_dim", C.c_int32), ("wrapped", C.c_bool), ("size", C.c_int64 * DIMS), ("stride", C.c_int64 * DIMS)]


class Slice(C.Structure):
    _fields_ = [("p", C.c_char_p), ("n", C.c_size_t)]


class Value(C.Structure):
    pass


class Union(C.Union):
    _fields_ = [("tensor", C.POINTER(Tensor)), ("i", C.c_int64), ("f", C.c_double), ("z", C.c_double * 2), ("text", Slice),
                ("item", C.POINTER(Value))]


Value._fields_ = [("kind", C.c_int), ("n", C.c_uint32), ("u", Union)]


class Named(C.Structure):
    _fields_ = [("name", Slice), ("value", Value)]


class Err(C.Structure):
    _fields_ = [("status", C.c_int), ("text", C.c_char * 1024)]


class Aten:
    def __init__(self, path):
        self.lib = C.CDLL(path)
        for name, result in (("overload", C.c_char_p), ("find", C.c_void_p), ("tensor", C.POINTER(Tensor)), ("fake", C.POINTER(Tensor)),
                             ("results", C.c_uint32)):
            getattr(self.lib, "driver_" + name).restype = result
        self.found = {}

    def overloads(self):
        names = []
        while name := self.lib.driver_overload(C.c_size_t(len(names))):
            names.append(name.decode())
        return names

    def find(self, name):
        if name not in self.found:
            err = Err()
            self.found[name] = self.lib.driver_find(name.encode(), C.byref(err)), err.text.decode(errors="replace")
        op, text = self.found[name]
        if not op:
            raise Refused(text)
        return C.c_void_p(op)

    def has(self, name):
        try:
            return bool(self.find(name))
        except Refused:
            return False

    def tensor(self, t, keep, shapes):
        n = t.dim()
        size, stride = (C.c_int64 * max(n, 1))(*t.shape), (C.c_int64 * max(n, 1))(*t.stride())
        if t.is_conj() or t.is_neg():
            raise Refused("a view with a bit set")
        if shapes:
            h = self.lib.driver_fake(DTYPES[t.dtype], n, size, stride)
        else:
            h = self.lib.driver_tensor(C.c_void_p(t.untyped_storage().data_ptr()), DTYPES[t.dtype], n, size, stride,
                                       C.c_int64(t.storage_offset()))
        if not h:
            raise Refused("a tensor that cannot be")
        if not shapes and t.dim() == 0 and t._is_wrapped_number() if hasattr(t, "_is_wrapped_number") else False:
            h.contents.wrapped = True
        keep.append((h, t))
        return h

    def value(self, v, keep, shapes):
        r = Value()
        if v is None:
            r.kind = NONE
        elif isinstance(v, torch.Tensor):
            r.kind, r.u.tensor = TENSOR, self.tensor(v, keep, shapes)
        elif isinstance(v, bool):
            r.kind, r.u.i = BOOL, v
        elif isinstance(v, int):
            r.kind, r.u.i = INT, v
        elif isinstance(v, float):
            r.kind, r.u.f = FLOAT, v
        elif isinstance(v, complex):
            r.kind, r.u.z[0], r.u.z[1] = COMPLEX, v.real, v.imag
        elif isinstance(v, str):
            text = v.encode()
            keep.append(text)
            r.kind, r.u.text = STRING, Slice(text, len(text))
        elif isinstance(v, torch.dtype):
            if v not in DTYPES:
                raise Refused(f"{v}")
            r.kind, r.u.i = DTYPE, DTYPES[v]
        elif isinstance(v, torch.layout):
            if v != torch.strided:
                raise Refused(f"{v}")
            r.kind, r.u.i = LAYOUT, 0
        elif isinstance(v, torch.memory_format):
            r.kind, r.u.i = FORMAT, FORMATS[v]
        elif isinstance(v, torch.device):
            r.kind, r.u.i = DEVICE, 0
        elif isinstance(v, (list, tuple)):
            items = (Value * max(len(v), 1))(*[self.value(x, keep, shapes) for x in v])
            keep.append(items)
            r.kind, r.n, r.u.item = LIST, len(v), items
        else:
            raise Refused(f"an argument of type {type(v).__name__}")
        return r

    def result(self, v, shapes):
        if v.kind == TENSOR:
            t = v.u.tensor.contents
            size, stride = list(t.size[: t.n_dim]), list(t.stride[: t.n_dim])
            if shapes:
                return torch.empty_strided(size, stride, dtype=NAMES[t.dtype], device="meta")
            out = torch.empty_strided(size, stride, dtype=NAMES[t.dtype])
            n = out.untyped_storage().nbytes()
            if n and out.numel():
                C.memmove(out.untyped_storage().data_ptr(), t.storage.contents.data + t.offset * out.element_size(), n)
            return out
        if v.kind == LIST:
            return [self.result(v.u.item[i], shapes) for i in range(v.n)]
        return {NONE: lambda: None, INT: lambda: v.u.i, FLOAT: lambda: v.u.f, BOOL: lambda: bool(v.u.i),
                COMPLEX: lambda: complex(*v.u.z)}[v.kind]()

    def call(self, name, args, kwargs=None, shapes=False):
        op, keep, err, results = self.find(name), [], Err(), (Value * 8)()
        try:
            values = (Value * max(len(args), 1))(*[self.value(a, keep, shapes) for a in args])
            named = []
            for k, v in (kwargs or {}).items():
                text = k.encode()
                keep.append(text)
                named.append(Named(Slice(text, len(text)), self.value(v, keep, shapes)))
            named = (Named * max(len(named), 1))(*named)
            if self.lib.driver_call(op, int(shapes), values, C.c_size_t(len(args)), named, C.c_size_t(len(kwargs or {})), results,
                                    C.byref(err)):
                raise Refused(err.text.decode(errors="replace"))
            n = self.lib.driver_results(op)
            out = [self.result(results[i], shapes) for i in range(n)]
            for i in range(n):
                self.lib.driver_value_release(C.byref(results[i]))
        finally:
            for k in keep:
                if isinstance(k, tuple):
                    self.lib.driver_release(k[0])
        return out[0] if n == 1 else tuple(out)
