"""The twin of programs/big.py: each tensor is just large enough for its statistics to be computed on the device."""
import json
import struct

from twin import DTYPES, Kernel, Tensor, graph, planted

BYTES = (64 << 10) + 4096
NAN = {"f16": b"\0\x7e", "bf16": b"\xc0\x7f", "f32": struct.pack("<f", float("nan")), "f64": struct.pack("<d", float("nan")), "f8e4m3": b"\x7f"}


def coded(name, v):
    if name == "f8e4m3":  # 1.5 or -2
        return b"\x3c" if v > 0 else b"\xc0"
    return struct.pack("<f", v)[2:] if name == "bf16" else struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[name], v)


facts = {}
for i, name in enumerate(["f32", "f64", "f16", "bf16", "f8e4m3"]):
    n = BYTES // DTYPES[name][1]
    data = coded(name, 1.5) * (n // 2) + coded(name, -2.0) + coded(name, 1.5) * (n - n // 2 - 2) + NAN[name]
    x = Tensor([n], name).write(data)
    if planted(6) and name == "f16":  # one number of many is not what torch says
        x.write(data[:len(data) // 4] + coded(name, 1.75) + data[len(data) // 4 + 2:])
    out = graph(f"{i}_inference", ["arg0_1"], [Kernel("triton_poi_fused_mul_sub_0", "copy", "arg0_1", "buf0", (n,), name)], ["buf0"])(x)[0]
    assert len(out.read()) == len(data)
    facts[name] = {"elements": n, "nan": 1, "inf": 0, "min": -2.0, "max": 1.5, "mean": (1.5 * (n - 2) - 2.0) / (n - 1)}
print(json.dumps(facts))
