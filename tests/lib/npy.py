"""Tensor files without numpy: npy.py FILE DTYPE SIZES... [--fortran]; the data are zeros. .safetensors by its name."""
import json
import struct
import sys

BYTES = {"<f4": 4, "<f8": 8, "<i8": 8, "<i4": 4, "|b1": 1, "<f2": 2, "|i1": 1}
SAFE = {"<f4": "F32", "<f8": "F64", "<i8": "I64", "<i4": "I32", "|b1": "BOOL", "<f2": "F16", "|i1": "I8"}

args = [a for a in sys.argv[1:] if a != "--fortran"]
fortran = "--fortran" in sys.argv
path, dtype, sizes = args[0], args[1], [int(a) for a in args[2:]]
count = 1
for n in sizes:
    count *= n
data = bytes(count * BYTES[dtype])
if path.endswith(".safetensors"):
    header = json.dumps({"x": {"dtype": SAFE[dtype], "shape": sizes, "data_offsets": [0, len(data)]}}).encode()
    out = struct.pack("<Q", len(header)) + header + data
else:
    shape = "(" + "".join(f"{n}, " for n in sizes) + ")"
    header = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    out = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data
with open(path, "wb") as f:
    f.write(out)
