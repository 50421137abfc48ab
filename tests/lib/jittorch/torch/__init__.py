"""As much of torch as generated wrappers and share/jit/rewrite.py touch: tensors of floats in a row, on tests/lib/jittorch.c. For tests
of the live tools where there is no torch; the kernels are Python functions of the test's own."""
import ctypes
import math
import os
import struct

__version__ = os.environ.get("JITTORCH_VERSION", "2.15.0")
_library = ctypes.CDLL(os.environ["JITTORCH_LIBRARY"])


class _Device:
    """JITTORCH_CUDA: device memory of the fake driver (tests/lib/fakecuda.h), an element at a time."""

    driver = None
    PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry touch(.param .u64 touch_param_0)\n{\nret;\n}\n\0"

    def __init__(self, *values):
        if not _Device.driver:
            _Device.driver = ctypes.CDLL("libcuda.so.1")
            context, module, _Device.touch = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
            for r in (self.driver.cuInit(0), self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), self.driver.cuCtxSetCurrent(context),
                      self.driver.cuModuleLoadData(ctypes.byref(module), self.PTX),
                      self.driver.cuModuleGetFunction(ctypes.byref(self.touch), module, b"touch")):
                assert not r, r
        self.n, self.at = max(len(values), 1), ctypes.c_uint64()
        assert not self.driver.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(4 * self.n))
        self._write((ctypes.c_float * self.n)(*values))

    def _read(self):
        host = (ctypes.c_float * self.n)()
        r = self.driver.cuMemcpyDtoH_v2(host, self.at, ctypes.c_size_t(4 * self.n))
        if r:
            raise RuntimeError("CUDA error %d" % r)
        return host

    def _write(self, host):
        self.driver.cuMemcpyHtoD_v2(self.at, host, ctypes.c_size_t(4 * self.n))

    def __getitem__(self, i):
        return self._read()[i]

    def __setitem__(self, i, v):
        host = self._read()
        host[i] = v
        self._write(host)

    def __iter__(self):
        return iter(self._read())

    def launch(self):
        param = ctypes.c_void_p(ctypes.addressof(self.at))
        self.driver.cuLaunchKernel(self.touch, 1, 1, 1, 1, 1, 1, 0, None, ctypes.byref(param), None)


class TensorBase:
    __slots__ = ("impl", "memory")  # impl is the first word behind the object's head

    def __init__(self, *values):
        cuda = "JITTORCH_CUDA" in os.environ
        self.memory = _Device(*values) if cuda else (ctypes.c_float * max(len(values), 1))(*values)
        n = len(values)
        self.impl = struct.pack("<Qqq4q4q", self.memory.at.value if cuda else ctypes.addressof(self.memory), 1, 6, n, 0, 0, 0, 1, 0, 0, 0)

    @property
    def _cdata(self):
        return id(self.impl)

    def __torch_dispatch__(self):
        pass

    def tolist(self):
        return list(self.memory)

    def copy_(self, other):
        self.memory[:] = other.memory[:]
        return self


class Tensor(TensorBase):
    __slots__ = ()


class _C:
    TensorBase = TensorBase


class nn:
    class Parameter(Tensor):
        __slots__ = ()


def empty(n):
    return Tensor(*[math.nan] * n)


class _Operators:
    """torch.ops.test.twice and the like, with a schema as torch has it."""

    class _Packet:
        def __init__(self, function, written):
            class argument:
                def __init__(self, name, is_write):
                    self.name = name
                    self.alias_info = type("alias", (), {"is_write": True}) if is_write else None

            self.function = function
            self._schema = type("schema", (), {"arguments": [argument("a%d" % i, w) for i, w in enumerate(written)]})

        def __call__(self, *args):
            return self.function(*args)

    def __init__(self):
        def spoil(x, y):
            x.memory[0] = math.nan

        self.test = type("test", (), {})()
        self.test.twice = self._Packet(lambda x: Tensor(*[2 * v for v in x.tolist()]), [False])
        self.test.halves = self._Packet(lambda x: (Tensor(*x.tolist()), Tensor(*[math.nan if v > 100 else v / 2 for v in x.tolist()])), [False])
        self.test.spoil = self._Packet(spoil, [True, False])


ops = _Operators()
