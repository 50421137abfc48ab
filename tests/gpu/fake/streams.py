"""The twin of programs/streams.py."""
import struct

from twin import Kernel, Tensor, graph, launch, now, planted, play, tensor, torch, total, wait

GOOD = [0.5 + i / 8 for i in range(8)]
CALLS = [Kernel("triton_poi_fused_log_0", "log", "arg0_1", "buf0"), Kernel("extern_kernels.mm", "copy", "buf0", "buf1"),
         Kernel("triton_poi_fused_tanh_1", "tanh", "buf1", "buf2")]


def side(to=""):
    f, good = graph("0_inference", ["arg0_1"], CALLS, ["buf2"]), tensor(GOOD)
    f(good)
    wait()
    x = tensor([float("nan")] * 8)
    wait()
    with torch.cuda.stream(torch.cuda.Stream()):
        launch("spin", "copy", good, Tensor([8]), now())
        if not planted(8):
            launch("copy", "copy", good, x, now())
        out = f(x)[0]
        if planted(8):  # what is read is not yet what the program sees in the end
            launch("copy", "copy", f(good)[0], out, now())
    wait()
    if to:
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (8,), }".ljust(117) + b"\n"
        with open(to, "wb") as file:
            file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + out.read())
    print(total(out), total(f(good)[0]))


def captured():
    f, x, good = graph("0_inference", ["arg0_1"], CALLS, ["buf2"]), tensor(GOOD), tensor(GOOD)
    f(x)
    wait()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        out = f(x)[0]
        f(x)
    got = []
    for i in range(3 - planted(9)):
        x.write(struct.pack("<8f", *[v + i for v in GOOD]))
        g.replay()
        got.append(total(out))
    print(got + got[-1:] * planted(9), total(f(good)[0]))


if __name__ == "__main__":
    play(globals())
