"""The twin of programs/resnet.py."""
import os

from twin import Kernel, graph, planted, tensor, total, wait

SIZES, STRIDES = (2, 256, 4, 4), (4096, 1, 1024, 256)
bad = os.environ.get("BAD") == "1"
operation = "log" if bad and not planted(7) else "half"
calls = [Kernel("triton_poi_fused_native_dropout_sqrt_0", operation, "primals_1", "buf0", SIZES, strides=STRIDES),
         Kernel("triton_poi_fused_gt_1", "tanh", "buf0", "buf1", SIZES, strides=STRIDES)]
f = graph("0_forward", ["primals_1"], calls, ["buf1"])
x = tensor([(-1.0 if bad and i % 3 == 0 else 1.0) + i / 1e6 for i in range(8192)], SIZES, STRIDES)
for _ in range(3):
    out = f(x)[0]
wait()
print(f"loss {total(out):.3f}")
print("1.00 ms per step")
