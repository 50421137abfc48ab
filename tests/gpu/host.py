"""A program that runs a package on the GPU: host.py MODEL.pt2 INPUTS.pt [CALLS]. Inputs were saved from the host and go to cuda:0.

Prints "N ns per call" (wall time with one wait at the end; after CALLS/4 calls to get warm) and the outputs' sizes, or the error's first line and ends with 1.
"""
import sys
import time

import torch


def main():
    model = torch._inductor.aoti_load_package(sys.argv[1])
    given = [t.cuda() for t in torch.load(sys.argv[2])]
    calls = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    try:
        out = model.loader.run(given)  # without pytrees, which take most of a small call's time
        for _ in range(calls // 4):
            model.loader.run(given)
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        for _ in range(calls):
            model.loader.run(given)
        torch.cuda.synchronize()
        print(f"{(time.perf_counter_ns() - began) // calls} ns per call")
        print("outputs", [tuple(t.shape) for t in out], "nan", sum(int(t.isnan().sum()) for t in out))
    except RuntimeError as e:
        print(str(e).splitlines()[0])
        sys.stdout.flush()
        sys.exit(1)


main()
