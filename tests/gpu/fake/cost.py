"""The twin of programs/cost.py: two graphs of a few kernels. Its times say nothing."""
import hashlib
import os
import sys
import time

from twin import Kernel, graph, planted, tensor, wait

for name, n in ("launches", 12), ("gpt", 5):
    calls = [Kernel(f"triton_poi_fused_tanh_{i}", "tanh", f"buf{i - 1}" if i else "arg0_1", f"buf{i}") for i in range(n)]
    f = graph(f"{n}_inference", ["arg0_1"], calls, [f"buf{n - 1}"])
    x = tensor([i / 8 for i in range(8)])
    data = f(x)[0].read()
    if planted(25) and "PT2_PROBE_DIR" in os.environ:  # watching changes what is computed
        data = b"1" + data
    began = time.perf_counter_ns()
    f(x)
    wait()
    print(f"{name}: result {hashlib.sha256(data).hexdigest()[:16]}")
    print(f"{name}: {time.perf_counter_ns() - began} ns a step")
sys.stdout.flush()
