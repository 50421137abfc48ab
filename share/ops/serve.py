"""The other end of cli/aten/ops/customops.h: computes the operators that FILE defines, with the user's torch.

    python -c SERVE FILE            descriptor 3 is the socket
"""
import ctypes
import importlib.machinery
import importlib.util
import json
import os
import socket
import struct
import sys


class Peer:
    def __init__(self):
        self.socket = socket.socket(fileno=3)

    def take(self, n):
        data = bytearray(n)
        view = memoryview(data)
        while view:
            got = self.socket.recv_into(view)
            if not got:
                os._exit(0)  # the tool has ended
            view = view[got:]
        return data

    def receive(self):
        n, more = struct.unpack("<QQ", self.take(16))
        return json.loads(self.take(n)), self.take(more)

    def send(self, message, data=b""):
        text = json.dumps(message).encode()
        try:
            self.socket.sendall(struct.pack("<QQ", len(text), len(data)) + text)
            self.socket.sendall(data)
        except OSError:
            os._exit(0)


def described(e):
    text = str(e).strip()
    return "%s: %s" % (type(e).__name__, text.splitlines()[0]) if text else type(e).__name__


def load(torch, path):
    if path.endswith((".so", ".pyd", ".dylib")):
        return torch.ops.load_library(path)
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.basename(path)[: -len(".py")] if path.endswith(".py") else os.path.basename(path)
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def spelled(name):
    """mylib::op.out is mylib.op.out, mylib::op is mylib.op.default"""
    space, op = name.split("::", 1)
    return "%s.%s" % (space, op if "." in op else op + ".default")


def span(size, stride):
    return 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))


class Values:
    def __init__(self, torch):
        self.torch = torch

    def tensor(self, v, data):
        dtype = getattr(self.torch, v["tensor"])
        n = span(v["size"], v["stride"])
        flat = self.torch.empty(n, dtype=dtype)
        if n:
            ctypes.memmove(flat.data_ptr(), (ctypes.c_char * (n * flat.element_size())).from_buffer(data, v["at"]), n * flat.element_size())
        return flat.as_strided(v["size"], v["stride"])

    def read(self, v, data):
        if isinstance(v, list):
            return [self.read(x, data) for x in v]
        if not isinstance(v, dict):
            return v
        if "tensor" in v:
            return self.tensor(v, data)
        if "float" in v:
            return float(v["float"])
        if "complex" in v:
            return complex(*map(float, v["complex"]))
        if "list" in v:
            return [self.read(x, data) for x in v["list"]]
        if "device" in v:
            return self.torch.device("cpu")
        return getattr(self.torch, v.get("dtype") or v.get("layout") or v["memory_format"])

    def write(self, v, data):
        if isinstance(v, self.torch.Tensor):
            v = v.detach().cpu()
            if v.is_conj() or v.is_neg() or span(v.shape, v.stride()) != v.numel():
                v = v.resolve_conj().resolve_neg().contiguous()
            at = len(data)
            if v.numel():
                data += ctypes.string_at(v.data_ptr(), v.numel() * v.element_size())
            data += bytes(-len(data) % 16)
            return {"tensor": str(v.dtype).split(".")[-1], "size": list(v.shape), "stride": list(v.stride()), "at": at}
        if isinstance(v, (list, tuple)):
            return {"list": [self.write(x, data) for x in v]}
        if v is None or isinstance(v, (bool, int, str)):
            return v
        if isinstance(v, float):
            return {"float": repr(v)}
        if isinstance(v, complex):
            return {"complex": [repr(v.real), repr(v.imag)]}
        raise TypeError("a result of type %s" % type(v).__name__)

    def to(self, v, was, now):
        if isinstance(v, (list, tuple)):
            return [self.to(x, was, now) for x in v]
        return v.to(now) if isinstance(v, self.torch.Tensor) and v.dtype == was else v


def call(torch, values, request, data):
    space, name, overload = request["op"].split(".")
    op = getattr(getattr(getattr(torch.ops, space), name), overload)
    if op._schema.is_mutable:
        raise NotImplementedError("it changes its arguments, which is not supported here")
    args = [values.read(v, data) for v in request["args"]]
    named = {k: values.read(v, data) for k, v in request["kwargs"].items()}
    try:
        return op(*args, **named)
    except Exception:
        if not request["double"]:
            raise
    # Many kernels know float32 alone.
    narrow = [values.to(v, torch.float64, torch.float32) for v in args]
    named = {k: values.to(v, torch.float64, torch.float32) for k, v in named.items()}
    return values.to(op(*narrow, **named), torch.float32, torch.float64)


def main(path):
    peer = Peer()
    try:
        import torch

        before = set(torch._C._dispatch_get_all_op_names())
        load(torch, path)
        allowed = {spelled(name) for name in set(torch._C._dispatch_get_all_op_names()) - before}
    except BaseException as e:
        return peer.send({"error": described(e)})
    peer.send({"ops": sorted(allowed)})
    values = Values(torch)
    while True:
        request, data = peer.receive()
        out = bytearray()
        try:
            if request["op"] not in allowed:
                raise LookupError("%s does not define it" % os.path.basename(path))
            with torch.no_grad():
                answer = {"result": values.write(call(torch, values, request, data), out)}
        except Exception as e:
            answer, out = {"error": described(e)}, b""
        peer.send(answer, out)


main(sys.argv[1])
