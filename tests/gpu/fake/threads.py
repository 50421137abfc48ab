"""The twin of programs/threads.py. jittorch's current stream is the process's: the threads take turns."""
import ctypes
import os
import struct
import threading

from twin import Kernel, Tensor, driver, graph, launch, now, planted, play, tensor, torch, total, wait

GOOD = [0.5 + i / 8 for i in range(8)]
BAD = GOOD[:5] + [-2.0] + GOOD[6:]


def streams(how="good"):
    models = [graph(f"{i}_inference", ["arg0_1"], [Kernel("triton_poi_fused_cos_log_0", "log", "arg0_1", "buf0"),
                                                   Kernel("extern_kernels.mm", "copy", "buf0", "buf1")], ["buf1"]) for i in range(2)]
    x = [tensor(GOOD), tensor(GOOD)]
    for f, t in zip(models, x):
        f(t)
    wait()
    turn, results, context = threading.Lock(), [None, None], ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(context))

    def work(i):
        driver.cuCtxSetCurrent(context)
        with turn, torch.cuda.stream(torch.cuda.Stream()):
            for n in range(3):
                later = tensor([float("nan")] * 8)
                wait()
                good = tensor(BAD if how == "bad" and i == 1 and n == 1 else GOOD)
                launch("spin", "copy", good, Tensor([8]), now())
                if not planted(24):
                    launch("copy", "copy", good, later, now())
                results[i] = models[i](later)[0]
            wait()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("streams:", [f"{total(r):.6g}" for r in results], flush=True)


def forked(how="good"):
    f = None
    for i in range(2):
        pid = os.fork()
        if not pid:
            f = graph(f"{i}_inference", ["arg0_1"], [Kernel("triton_poi_fused_cos_log_0", "log", "arg0_1", "buf0")], ["buf0"])
            print(f"child {i}: {total(f(tensor(BAD if how == 'bad' and i else GOOD))[0]):.6g}", flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
    assert f is None


def pinned():
    f = graph("0_inference", ["arg0_1"], [Kernel("triton_poi_fused_sqrt_0", "half", "arg0_1", "buf0")], ["buf0"])
    x = tensor([0.0] * 8)
    for i in range(3):
        x.write(struct.pack("<8f", *[v + i for v in GOOD]))
        print("pinned:", f"{total(f(x)[0]):.6g}", flush=True)


if __name__ == "__main__":
    play(globals())
