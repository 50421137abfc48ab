"""As much of torch as generated wrappers and share/jit/rewrite.py touch: tensors of floats in a row, on tests/lib/jittorch.c. For tests
of the live tools where there is no torch; the kernels are Python functions of the test's own."""
import ctypes
import math
import os
import struct

__version__ = os.environ.get("JITTORCH_VERSION", "2.15.0")
_library = ctypes.CDLL(os.environ["JITTORCH_LIBRARY"])


class TensorBase:
    __slots__ = ("impl", "memory")  # impl is the first word behind the object's head

    def __init__(self, *values):
        self.memory = (ctypes.c_float * max(len(values), 1))(*values)
        n = len(values)
        self.impl = struct.pack("<Qqq4q4q", ctypes.addressof(self.memory), 1, 6, n, 0, 0, 0, 1, 0, 0, 0)

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
