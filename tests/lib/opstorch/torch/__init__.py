"""As much of torch as share/ops/serve.py touches, without torch and numpy: tensors on a bytearray, operators that are Python functions. For tests
of --ops where there is no torch: PYTHONPATH=tests/lib/opstorch. A file of operators says

    import torch

    @torch.operator("mylib::doubled")
    def doubled(x): return torch.of([2 * v for v in x.values()], x.shape)
"""
import ctypes
import math
import struct

strided, channels_last, contiguous_format = "torch.strided", "torch.channels_last", "torch.contiguous_format"


class dtype:
    def __init__(self, name, code):
        self.name, self.code, self.bytes = name, code, struct.calcsize(code)

    def __repr__(self):
        return "torch." + self.name


float32, float64, int64, uint8 = dtype("float32", "f"), dtype("float64", "d"), dtype("int64", "q"), dtype("uint8", "B")
bool = dtype("bool", "?")


class Tensor:
    def __init__(self, dtype, data, shape, strides):
        self.dtype, self.data, self.shape, self.strides = dtype, data, tuple(shape), tuple(strides)

    def stride(self):
        return self.strides

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return self.dtype.bytes

    def data_ptr(self):
        return ctypes.addressof((ctypes.c_char * len(self.data)).from_buffer(self.data))

    def as_strided(self, shape, strides):
        return Tensor(self.dtype, self.data, shape, strides)

    def detach(self):
        return self

    cpu = contiguous = resolve_conj = resolve_neg = detach

    def is_conj(self):
        return False

    is_neg = is_conj

    def values(self):
        """In row-major order."""
        flat = struct.unpack("%d%s" % (len(self.data) // self.dtype.bytes, self.dtype.code), self.data)
        at = [0]
        for n, s in zip(self.shape, self.strides):
            at = [a + i * s for a in at for i in range(n)]
        return [flat[a] for a in at]

    def to(self, other):
        return of(self.values(), self.shape, other)


def of(values, shape, dtype=float32):
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    return Tensor(dtype, bytearray(struct.pack("%d%s" % (len(values), dtype.code), *values)), shape, strides)


def empty(n, dtype):
    return Tensor(dtype, bytearray(n * dtype.bytes), (n,), (1,))


def device(name):
    return name


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


_defined = {"aten::add.Tensor": None}


class _C:
    @staticmethod
    def _dispatch_get_all_op_names():
        return list(_defined)


class _Overload:
    class _schema:
        is_mutable = False

    def __init__(self, f, mutable):
        self.f = f
        if mutable:
            self._schema = type("schema", (), {"is_mutable": True})

    def __call__(self, *args, **named):
        return self.f(*args, **named)


class _Names:
    def __init__(self, path=""):
        self.path = path

    def __getattr__(self, name):
        path = self.path + (":" if self.path.count(":") == 0 and self.path else ".") * (self.path != "") + name
        known = {n.replace("::", ":") + ("" if "." in n else ".default"): o for n, o in _defined.items()}
        return known[path] if path in known else _Names(path)


ops = _Names()


def operator(name, mutable=False):
    def add(f):
        _defined[name] = _Overload(f, mutable)
        return f
    return add
