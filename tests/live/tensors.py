"""tensors.py FOLDER: are the files that test_write made what torch and numpy read? One line each of what is not."""
import json
import os
import re
import struct
import sys

import numpy as np
import torch


def want(folder):
    for line in open(os.path.join(folder, "list"), encoding="utf-8"):
        file, name, spec, data = line.rstrip("\n").split(" ")
        dtype, size, stride = re.fullmatch(r"(\w+)\[([\d,]*)\]/\(([\d,]*)\)", spec).groups()
        ints = lambda text: [int(x) for x in text.split(",") if x]
        yield file, name, dtype, ints(size), ints(stride), bytes.fromhex(data.replace("-", ""))


def elements(t):
    """Its bytes in the order of its sizes. Through bytes, for not every dtype can be copied."""
    flat = torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage())
    width = t.element_size()
    raw = flat.as_strided(list(t.shape) + [width], [s * width for s in t.stride()] + [1], t.storage_offset() * width)
    return raw.contiguous().numpy().tobytes()


def safetensors(path):
    """By the description of the format; torch has no reader of it."""
    data = open(path, "rb").read()
    (n,) = struct.unpack("<Q", data[:8])
    out, end = {}, 0
    for name, t in json.loads(data[8 : 8 + n]).items():
        at, to = t["data_offsets"]
        if at != end or n % 8:
            raise ValueError("holes")
        end = to
        out[name] = (t["dtype"], t["shape"], data[8 + n + at : 8 + n + to])
    if 8 + n + end != len(data):
        raise ValueError("something follows")
    return out


def main(folder):
    cache, index, checked = {}, {}, 0
    for file, name, dtype, size, stride, data in want(folder):
        path, place = os.path.join(folder, file), f"{file}: {name} {dtype}{size}"
        i = index[file] = index.get(file, -1) + 1
        if file.endswith(".npy"):
            a = np.load(path, allow_pickle=False)
            got = (str(a.dtype), list(a.shape), a.tobytes())
            fine = got == (dtype, size, data)
            # np.save writes the same file
            np.save(os.path.join(folder, "again.npy"), a)
            fine = fine and open(path, "rb").read() == open(os.path.join(folder, "again.npy"), "rb").read()
        elif file.endswith(".pt"):
            if file not in cache:
                cache[file] = torch.load(path, weights_only=True)
                torch.load(path, weights_only=True, mmap=True)
            top = cache[file]
            t = top if isinstance(top, torch.Tensor) else top[name] if isinstance(top, dict) else top[i]
            fine = (str(t.dtype), list(t.shape), list(t.stride())) == ("torch." + dtype, size, stride) and elements(t) == data
        else:
            if file not in cache:
                cache[file] = safetensors(path)
            kind, shape, raw = cache[file][name]
            short = {"float8_e4m3fn": "f8_e4m3", "float8_e8m0fnu": "f8_e8m0"}.get(dtype, dtype)
            for long, brief in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
                short = short.replace(long, brief)
            fine = (kind.lower(), shape, raw) == (short, size, data)
        checked += 1
        if not fine:
            print("differs:", place)
    print(checked, "tensors")


main(sys.argv[1])
