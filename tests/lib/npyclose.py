"""Are two tensors the same? npyclose.py GOT.npy WANT.npy [RELATIVE [ABSOLUTE]], without numpy.

Prints "N elements" or where they differ most. NaN is NaN. uint16 is bfloat16, as torch's bits in .npy files are.
"""
import math
import re
import struct
import sys

FORMATS = {"<f4": "f", "<f8": "d", "<f2": "e", "<u2": "H", "<i4": "i", "<i8": "q", "|b1": "?", "|u1": "B"}


def load(path):
    data = open(path, "rb").read()
    if data[:8] != b"\x93NUMPY\1\0":
        sys.exit(f"{path}: no .npy file")
    at = 10 + struct.unpack("<H", data[8:10])[0]
    head = data[10:at].decode()
    descr = re.search(r"'descr': '([^']*)'", head).group(1)
    shape = [int(n) for n in re.findall(r"\d+", re.search(r"'shape': \(([^)]*)\)", head).group(1))]
    values = [v[0] for v in struct.iter_unpack("<" + FORMATS[descr], data[at:])]
    if descr == "<u2":
        values = [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
    return descr, shape, values


def main():
    got, want = load(sys.argv[1]), load(sys.argv[2])
    relative = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-5
    absolute = float(sys.argv[4]) if len(sys.argv) > 4 else 1e-6
    if got[:2] != want[:2]:
        sys.exit(f"{got[0]} {got[1]}, not {want[0]} {want[1]}")
    worst = (0, None)
    for i, (a, b) in enumerate(zip(got[2], want[2])):
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        far = abs(a - b) / (absolute + relative * abs(b)) if math.isfinite(a) and math.isfinite(b) else math.inf
        worst = max(worst, (far, i), key=lambda w: w[0])
    if worst[0] > 1:
        sys.exit(f"element {worst[1]}: {got[2][worst[1]]!r}, not {want[2][worst[1]]!r}")
    print(len(got[2]), "elements")


if __name__ == "__main__":
    main()
