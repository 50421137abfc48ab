"""The twin of programs/kinds.py: names and texts of the kinds, with kernels of the fake driver."""
from twin import Kernel, graph, planted, play, tensor, total

NAMES = {"template": "triton_tem_fused_mm_relu_1", "flex": "triton_tem_fused_flex_attention_1", "combo": "triton_for_fused_1", "multi": "triton_red_fused_sum_1",
         "cooperative": "triton_red_fused_exp_sum_1"}


def _scene(name):
    calls = [Kernel("triton_poi_fused_sin_0", "half", "arg0_1", "buf0"), Kernel(NAMES[name], "tanh", "buf0", "buf1"),
             Kernel("extern_kernels.mm", "copy", "buf1", "buf2")]
    if planted(20) and name == "combo":  # a tensor that nobody has written
        calls[1].source = "arg0_1 if True else buf0"
    out = graph("0_inference", ["arg0_1"], calls, ["buf2"])(tensor([i / 8 for i in range(8)]))[0]
    print(f"{name}: {total(out):.6g}", flush=True)


template, flex, combo, multi, cooperative = (lambda name=n: _scene(name) for n in NAMES)


def wrapper(how="good"):
    calls = [Kernel("triton_poi_fused_log_0", "log", "arg0_1", "buf0"), Kernel("extern_kernels.mm", "copy", "buf0", "buf1")]
    f = graph("0_inference", ["arg0_1"], calls, ["buf1"])
    x = tensor([-1.0 if how == "bad" and i == 3 else 1.0 + i for i in range(8)])
    for i in range(2 if planted(21) else 3):
        out = f(x)[0]
    print(f"wrapper: {total(out):.6g}", flush=True)


if __name__ == "__main__":
    play(globals())
