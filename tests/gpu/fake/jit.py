"""The twin of programs/jit.py: the same scenes as texts of a compiled graph."""
from twin import Kernel, graph, planted, play, tensor, torch, total, wait

GOOD = [0.5 + i / 8 for i in range(8)]
BAD = GOOD[:5] + [-2.0, -3.0, 4.0]


def fused():
    first = Kernel("triton_poi_fused_log_0", "log", "arg0_1", "buf0", code="return torch.log(x)")
    second = Kernel("triton_poi_fused_tanh_1", "tanh", "buf0", "buf1")
    if planted(2):  # another kernel makes it
        first.name, second.name = second.name, first.name
    print(total(graph("0_inference", ["arg0_1"], [first, second], ["buf1"])(tensor(BAD))[0]))


def user():
    name = "triton_poi_fused_cos_0" if planted(4) else "log_of_all_0"
    print(total(graph("0_inference", ["arg0_1"], [Kernel(name, "log", "arg0_1", "buf0")], ["buf0"])(tensor(BAD))[0]))


def train():
    forward = graph("0_forward", ["primals_1"], [Kernel("triton_poi_fused_sqrt_0", "half", "primals_1", "buf0")], ["buf0"])
    print(total(forward(tensor(GOOD))[0]))
    backward = graph("0_inference" if planted(3) else "0_backward", ["tangents_1"], [Kernel("triton_poi_fused_div_0", "log", "tangents_1", "buf0")], ["buf0"])
    print(total(backward(tensor(BAD))[0]))


def scans(how="bad"):
    values = BAD if how == "bad" else GOOD
    for i, name in enumerate(("cumsum", "logcumsumexp", "associative_scan")):
        torch_empty = tensor([float("nan")] * 8)
        scan = Kernel(f"triton_per_fused_{name}_0", "log", "arg0_1", "buf0", scan=True)
        reader = Kernel("extern_kernels.mm", "copy", "buf0", "buf1")
        if planted(5) and i == 1:  # only its reader is seen to have one
            scan.operation, reader = "copy", Kernel("triton_poi_fused_tanh_1", "log", "buf0", "buf1")
            scan.name, reader.name = reader.name, "cpp_reader"
        f = graph(f"{i}_inference", ["arg0_1"], [scan, reader], ["buf1"])
        del torch_empty
        print(name, total(f(tensor(values))[0]), flush=True)


def graphs():
    calls = [Kernel("triton_poi_fused_log_0", "log", "arg0_1", "buf0"), Kernel("extern_kernels.mm", "copy", "buf0", "buf1")]
    f = graph("0_inference", ["arg0_1"], calls, ["buf1"], graphs=not planted(11))
    x = tensor(BAD if planted(10) else GOOD)
    for _ in range(6):
        out = f(x)[0]
    wait()
    print(total(out))


def late():
    calls = [Kernel("triton_poi_fused_log_0", "log", "arg0_1", "buf0"), Kernel("extern_kernels.mm", "copy", "buf0", "buf1")]
    f = graph("0_inference", ["arg0_1"], calls, ["buf1"], graphs=True)
    x = tensor(GOOD)
    for i in range(6):
        x.write(tensor(BAD if i == 4 and not planted(10) else GOOD).read())
        print(total(f(x)[0]), flush=True)


def _far(out):
    calls = [Kernel("triton_poi_fused_cos_0", "half", "arg0_1", "buf0"), Kernel("log_of_all_0", "far", "buf0", "buf1"),
             Kernel("triton_poi_fused_add_1", "half", "buf1", "buf2")]
    if planted(12):
        calls[1].operation, calls[2].operation = "half", "far"
    f = graph("0_inference", ["arg0_1"], calls, ["buf2"])
    behind = graph("1_inference", ["arg0_1"], [Kernel("triton_poi_fused_tanh_0", "tanh", "arg0_1", "buf0")], ["buf0"])
    x = tensor(GOOD)
    wait()
    return behind, f, x


def far():
    behind, f, x = _far(0)
    print(total(behind(f(x)[0])[0]))


def farside():
    behind, f, x = _far(1)
    with torch.cuda.stream(torch.cuda.Stream()):
        if planted(13):  # it was there before: work of the program's own
            from twin import launch, now
            launch("own_work", "far", x, x, now())
        out = behind(f(x)[0])[0]
    print(total(out))


if __name__ == "__main__":
    play(globals())
