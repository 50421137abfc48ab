"""What is in a file of tensors, without numpy or torch: tensors.py FILE... prints "NAME DTYPE [SIZES] [VALUES]", sorted by name.

.npy, .npz, .safetensors, .pt (what torch.save writes: the pickle is executed with a closed set of names). Values are in the order of the
sizes, complex numbers as two. tensors.py --write FILE.safetensors NAME DTYPE SIZES VALUE ... writes tensors that are one value throughout.
"""
import ast
import json
import pickle
import struct
import sys
import zipfile

NPY = {"<f4": ("F32", "f"), "<f8": ("F64", "d"), "<f2": ("F16", "e"), "<i2": ("I16", "h"), "<i4": ("I32", "i"), "<i8": ("I64", "q"), "|b1": ("BOOL", "?"),
       "|u1": ("U8", "B"), "|i1": ("I8", "b"), "<c8": ("C64", "ff"), "<c16": ("C128", "dd")}
FORMAT = {name: code for name, code in NPY.values()} | {"BF16": "H"}
TORCH = {"Float": "F32", "Double": "F64", "Half": "F16", "Short": "I16", "Int": "I32", "Long": "I64", "Bool": "BOOL", "Byte": "U8", "Char": "I8",
         "ComplexFloat": "C64", "ComplexDouble": "C128", "BFloat16": "BF16"}


def contiguous(sizes):
    strides, n = [], 1
    for s in reversed(sizes):
        strides.insert(0, n)
        n *= s
    return strides


def values(dtype, sizes, strides, data):
    code = "<" + FORMAT[dtype]
    places = [0]
    for size, stride in zip(sizes, strides):
        places = [p + i * stride for p in places for i in range(size)]
    out = []
    for p in places:
        out += struct.unpack_from(code, data, p * struct.calcsize(code))
    if dtype == "BF16":
        out = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in out]
    return out


def npy(data):
    assert data[:8] == b"\x93NUMPY\1\0", data[:8]
    at = 10 + struct.unpack_from("<H", data, 8)[0]
    assert at % 64 == 0 and data[at - 1:at] == b"\n"
    head = ast.literal_eval(data[10:at].decode())
    dtype, sizes = NPY[head["descr"]][0], list(head["shape"])
    strides = contiguous(sizes[::-1])[::-1] if head["fortran_order"] else contiguous(sizes)
    return dtype, sizes, values(dtype, sizes, strides, data[at:])


def safetensors(data):
    n = struct.unpack_from("<Q", data)[0]
    body = data[8 + n:]
    for name, t in json.loads(data[8:8 + n]).items():
        first, last = t["data_offsets"]
        assert last <= len(body)
        yield name, (t["dtype"], t["shape"], values(t["dtype"], t["shape"], contiguous(t["shape"]), body[first:last]))


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        if module == "torch" and name.endswith("Storage"):
            return TORCH[name[:-7]]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, size, stride, *_: (storage[0], list(size), values(storage[0], size, stride, storage[1]))
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid):
        return pid[1], self.archive.read(self.root + "data/" + pid[2])


def pt(archive):
    name = next(n for n in archive.namelist() if n.endswith("/data.pkl"))
    with archive.open(name) as f:
        u = Unpickler(f)
        u.archive, u.root = archive, name[:-8]
        return u.load()


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] == b"\x93NUMPY":
        return {"": npy(data)}
    if data[:4] != b"PK\3\4":
        return dict(safetensors(data))
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None
    if any(n.endswith("/data.pkl") for n in archive.namelist()):
        return pt(archive)
    return {n[:-4]: npy(archive.read(n)) for n in archive.namelist()}


def write(path, args):
    head, body = {}, b""
    for name, dtype, sizes, value in zip(*[iter(args)] * 4):
        sizes = [int(s) for s in sizes.split(",")] if sizes else []
        n = 1
        for s in sizes:
            n *= s
        kind = int if dtype[0] in "IUB" else float
        data = struct.pack("<" + FORMAT[dtype], kind(value)) * n
        head[name] = {"dtype": dtype, "shape": sizes, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def flat(tree):
    """Lists within: "in" of two is in[0], in[1]."""
    for name, tensor in tree.items():
        if isinstance(tensor, list):
            yield from ((f"{name}[{i}]", t) for i, t in enumerate(tensor))
        else:
            yield name, tensor


if sys.argv[1] == "--write":
    write(sys.argv[2], sys.argv[3:])
else:
    for path in sys.argv[1:]:
        for name, tensor in sorted(flat(load(path))):
            if tensor is None:
                print(name, "None")
            else:
                dtype, sizes, v = tensor
                print(name, dtype, sizes, [round(float(x), 5) for x in v])
