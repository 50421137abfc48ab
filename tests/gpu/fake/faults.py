"""The twin of programs/faults.py. The caching allocators are not there: one tensor is in the middle of a larger allocation."""
import os

import twin
from twin import Kernel, graph, planted, play, tensor, total, wait

GOOD = [0.5 + i / 8 for i in range(8)]
twin.OPERATIONS["odd"] = "add.u64 to, to, 1;"
twin.OPERATIONS["assert"] = ("{ .param .b64 a0; .param .b64 a1; .param .b32 a2; .param .b64 a3; .param .b64 a4; st.param.b64 [a0], to; "
                             "st.param.b64 [a1], to; st.param.b32 [a2], n; st.param.b64 [a3], to; st.param.b64 [a4], to; "
                             "call.uni __assertfail, (a0, a1, a2, a3, a4); }")


def run_twice(kernel, operation):
    calls = [Kernel("triton_poi_fused_cos_0", "half", "arg0_1", "buf0"), Kernel(kernel, "half", "buf0", "buf1")]
    good = graph("0_inference", ["arg0_1"], calls, ["buf1"])
    x = tensor(GOOD)
    wait()
    print(total(good(x)[0]), flush=True)
    twin.loaded.pop(kernel)
    real = twin._Triton.run

    def faulty(self, source, to, n, stream=None):
        twin.launch(self.name, operation if self.name == kernel else self.operation, source, to, stream)
    twin._Triton.run = faulty
    out = good(x)[0]
    twin._Triton.run = real
    try:
        print(total(out), flush=True)
    except RuntimeError as e:
        raise RuntimeError({"CUDA error: 710": "CUDA error: device-side assert triggered", "CUDA error: 716": "CUDA error: misaligned address"}.get(str(e), str(e)))


def asserted():
    run_twice("triton_poi_fused_embedding_1", "odd" if planted(14) else "assert")


def misaligned():
    run_twice("odd_store_1", "odd")


def far():
    run_twice("triton_poi_fused_add_1" if planted(15) else "far_store_1", "far")


def shrunk():
    f = graph("0_inference", ["arg0_1"], [Kernel("triton_poi_fused_sin_0", "half", "arg0_1", "buf0")], ["buf0"])
    x = tensor(GOOD)
    print(total(f(x)[0]), flush=True)
    if not planted(15):
        x.impl = x.impl[:-16] + (16).to_bytes(8, "little") + x.impl[-8:]
    f(x)
    wait()
    print("no error", flush=True)
    os._exit(0)


expandable = pool = far
globals()["assert"] = asserted

if __name__ == "__main__":
    play(globals())
