"""The twin of programs/precisions.py: a recorded package in float32, and the same with one wrong instruction in its relu. weights:DUMP writes
weights.npz of what a dump has, and trace.log, the trace of its compilation."""
import glob
import lzma
import os
import re
import struct
import sys
import zipfile

from packages import DATA, LIBRARIES, PLANT, play, unpacked, values

sys.path.insert(0, os.path.join(os.path.dirname(DATA), "../../lib"))


def run(scene):
    folder, kernels = unpacked("linear")
    if scene == "wrong" or PLANT == "22":
        path = os.path.join(kernels, "triton_poi_fused_addmm_relu_0.ptx")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(path, "w", encoding="utf-8") as f:
            f.write(re.sub(r"\bsetp\.lt\.f32\b", "setp.gt.f32", re.sub(r"\bmax(\.NaN)?\.f32\b", r"min\1.f32", text)))
    return play(os.path.join(LIBRARIES, "cudarun"), "load=" + glob.glob(folder + "/*.wrapper.so")[0], *values("linear"), "call", FAKECUDA_PTX=kernels)


def npy(shape, numbers):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}f", *numbers)


def weights(dump):
    import npyclose

    with lzma.open(os.path.join(DATA, "linear.trace.log.xz")) as f, open("trace.log", "wb") as g:
        g.write(f.read())
    with zipfile.ZipFile("weights.npz", "w") as z:
        for name in "up.weight", "up.bias", "down.weight", "down.bias":
            shape, v = npyclose.load(glob.glob(f"{dump}/*.{name.replace('.', '_')}.npy")[0])[1:3]
            if len(shape) == 2:  # as the product reads them
                shape, v = shape[::-1], [v[i * shape[1] + j] for j in range(shape[1]) for i in range(shape[0])]
            z.writestr(name + ".npy", npy(shape, v))


if __name__ == "__main__":
    for what in sys.argv[1:]:
        what, _, rest = what.partition(":")
        if what == "weights":
            weights(rest)
        else:
            print(f"{what}: {run(what)}", flush=True)
