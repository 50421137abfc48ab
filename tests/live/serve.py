"""The same server as host.cpp, in Python: serve.py MODEL.pt2 INPUTS.pt THREADS CALLS. One line for each kind of result."""
import collections
import hashlib
import sys
import threading

import torch


def digest(outputs):
    h = hashlib.sha256()
    for t in outputs:
        h.update(repr((t.dtype, tuple(t.shape), t.stride())).encode() + t.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return h.hexdigest()[:16]


def main():
    model = torch._inductor.aoti_load_package(sys.argv[1])
    inputs = torch.load(sys.argv[2])
    results, lock = collections.Counter(), threading.Lock()

    def work():
        mine = collections.Counter()
        for _ in range(int(sys.argv[4])):
            try:
                outputs = model.loader.run(inputs)  # without pytrees, which take most of a small call's time
                mine[digest(outputs)] += 1
            except RuntimeError as e:
                mine[f"exception: {str(e).splitlines()[0]}"] += 1
        with lock:
            results.update(mine)

    threads = [threading.Thread(target=work) for _ in range(int(sys.argv[3]))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print("\n".join(f"{k} {n}" for k, n in sorted(results.items())))


main()
