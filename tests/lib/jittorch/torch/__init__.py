"""As much of torch as generated wrappers and share/jit/rewrite.py touch: tensors of floats in a row, on tests/lib/jittorch.c. For tests
of the live tools where there is no torch; the kernels are Python functions of the test's own."""
import contextlib
import ctypes
import math
import os
import struct

__version__ = os.environ.get("JITTORCH_VERSION", "2.15.0")
_library = ctypes.CDLL(os.environ["JITTORCH_LIBRARY"])


class _Device:
    """JITTORCH_CUDA: device memory of the fake driver (tests/lib/fakecuda.h), an element at a time. libtorch_cuda.so is loaded as Python loads
    it, which makes nothing of it global, and libtorch_cpu.so (jittorch.c) does not depend on it. On a stream other than the default one
    writes are done late, and a kernel reads what the host remembers."""

    driver = None
    now = None  # the current stream, as libtorch_cuda.so has it
    context = ctypes.c_void_p()
    PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry touch(.param .u64 touch_param_0)\n{\nret;\n}\n\0"

    @staticmethod
    def start():
        if _Device.driver:
            return
        _Device.driver, _Device.library = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL("libtorch_cuda.so")
        context, module, _Device.touch = _Device.context, ctypes.c_void_p(), ctypes.c_void_p()
        driver = _Device.driver
        for r in (driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), driver.cuCtxSetCurrent(context),
                  driver.cuModuleLoadData(ctypes.byref(module), _Device.PTX), driver.cuModuleGetFunction(ctypes.byref(_Device.touch), module, b"touch")):
            assert not r, r

    @staticmethod
    @contextlib.contextmanager
    def inside():
        """A thread gets a context with its first kernel; what is done before (torch's allocator has memory) needs none."""
        _Device.driver.cuCtxPushCurrent_v2(_Device.context)
        yield
        _Device.driver.cuCtxPopCurrent_v2(None)

    def __init__(self, *values):
        _Device.start()
        self.n, self.at, mode = max(len(values), 1), ctypes.c_uint64(), ctypes.c_int(2)
        # torch's allocator allows itself to allocate during a capture.
        with self.inside():
            self.driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
            assert not self.driver.cuMemAlloc_v2(ctypes.byref(self.at), ctypes.c_size_t(4 * self.n))
            self.driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        self._write((ctypes.c_float * self.n)(*values))

    def _read(self):
        return self.host if _Device.now else self.copy()

    def copy(self):
        host = (ctypes.c_float * self.n)()
        with self.inside():
            r = self.driver.cuStreamSynchronize(_Device.now) or self.driver.cuMemcpyDtoH_v2(host, self.at, ctypes.c_size_t(4 * self.n))
        if r:
            raise RuntimeError("CUDA error %d" % r)
        return host

    def _write(self, host):
        self.host = host
        with self.inside():
            if _Device.now:
                self.driver.cuMemcpyHtoDAsync_v2(self.at, host, ctypes.c_size_t(4 * self.n), _Device.now)
            else:
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
        self.driver.cuCtxSetCurrent(_Device.context)
        param = ctypes.c_void_p(ctypes.addressof(self.at))
        self.driver.cuLaunchKernel(self.touch, 1, 1, 1, 1, 1, 1, 0, _Device.now, ctypes.byref(param), None)


class cuda:
    class Stream:
        def __init__(self):
            _Device.start()
            self.handle = ctypes.c_void_p()
            assert not _Device.driver.cuStreamCreate(ctypes.byref(self.handle), 1)  # not blocking, as torch's are

    @staticmethod
    @contextlib.contextmanager
    def stream(s):
        guard, before = ctypes.c_void_p(), _Device.now
        assert not _Device.library.aoti_torch_create_cuda_stream_guard(s.handle, 0, ctypes.byref(guard))
        _Device.now = s.handle
        try:
            yield s
        finally:
            _Device.now = before
            _Device.library.aoti_torch_delete_cuda_stream_guard(guard)

    class CUDAGraph:
        def replay(self):
            assert not _Device.library.faketorch_cuda_replay(self.exec, _Device.now)

    @staticmethod
    @contextlib.contextmanager
    def graph(g):
        g.exec = ctypes.c_void_p()
        with cuda.stream(cuda.Stream()) as s:
            assert not _Device.library.faketorch_cuda_capture_begin(s.handle)
            yield
            r = _Device.library.faketorch_cuda_capture_end(s.handle, ctypes.byref(g.exec))
        if r:
            raise RuntimeError("the capture failed: CUDA error %d" % r)


class TensorBase:
    __slots__ = ("impl", "memory", "n", "cuda")  # impl is the first word behind the object's head

    def __init__(self, *values, on_cpu=False):
        cuda = "JITTORCH_CUDA" in os.environ and not on_cpu
        self.memory = _Device(*values) if cuda else (ctypes.c_float * max(len(values), 1))(*values)
        self.n, self.cuda = len(values), cuda
        self.shaped(6, (len(values),), (1,))

    def shaped(self, dtype, size, stride):
        """The same memory, as a tensor of that dtype (torch's number), sizes and strides."""
        address = self.memory.at.value if self.cuda else ctypes.addressof(self.memory)
        four = [(list(v) + [0] * 4)[:4] for v in (size, stride)]
        self.impl = struct.pack("<Qqq4q4qqq", address, len(size), dtype, *four[0], *four[1], 4 * self.n, self.cuda)
        return self

    @property
    def _cdata(self):
        return id(self.impl)

    def __torch_dispatch__(self):
        pass

    def tolist(self):
        return list(self.memory.copy() if isinstance(self.memory, _Device) else self.memory)

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


def empty(n, on_cpu=False):
    return Tensor(*[math.nan] * n, on_cpu=on_cpu)


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
        self.test.twice = self._Packet(lambda x: Tensor(*[2 * v for v in x.memory]), [False])
        self.test.halves = self._Packet(lambda x: (Tensor(*x.memory), Tensor(*[math.nan if v > 100 else v / 2 for v in x.memory])), [False])
        # What a convolution makes on a GPU: channels_last, 69696 bytes. The last channel of the second image is spoiled where x is above 100.
        def image(x):
            values = [0.5] * 17424
            values[9991] = math.nan if max(x.memory) > 100 else 2.0
            return Tensor(*values).shaped(6, (2, 8, 33, 33), (8712, 1, 264, 8))

        self.test.image = self._Packet(image, [False])
        self.test.mask = self._Packet(lambda x: Tensor(*[math.nan] * 20000).shaped(int(os.environ["MASK"]), (80000,), (1,)), [False])
        self.test.huge = self._Packet(lambda x: Tensor(*x.memory).shaped(8, (1 << 15, 1 << 15), (1, 1 << 15)), [False])  # complex32, transposed
        self.test.spoil = self._Packet(spoil, [True, False])


ops = _Operators()
