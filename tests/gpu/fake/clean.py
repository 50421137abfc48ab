"""The twin of programs/clean.py."""
from twin import Kernel, graph, number, planted, play, tensor, total


def _graphs(name, fault=False):
    calls = [Kernel("triton_poi_fused_relu_0", "half", "primals_1", "buf0"), Kernel("extern_kernels.mm", "copy", "buf0", "buf1"),
             Kernel("triton_poi_fused_add_1", "far" if fault else "tanh", "buf1", "buf2", number="primals_2")]
    f = graph(f"{len(name)}_forward", ["primals_1", "primals_2"], calls, ["buf2"])
    x = tensor([i / 8 for i in range(8)])
    for _ in range(3):
        out = f(x, number(3.0))[0]
    print(name, total(out), flush=True)


def adamw():
    _graphs("adamw", planted(16))


def ddp():
    _graphs("ddp")


def fsdp():
    _graphs("fsdp")


if __name__ == "__main__":
    play(globals())
