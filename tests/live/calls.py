"""A program with models, for calls.t: calls.py MODEL.pt2 WHAT. What it prints depends on the calls only."""
import os
import signal
import sys
import threading

import torch


def bits(out):
    out = out if isinstance(out, (list, tuple)) else [out]
    return [t.contiguous().view(torch.uint8).flatten().tolist() for t in out]


def main():
    path, what = sys.argv[1:3]
    model = torch._inductor.aoti_load_package(path)
    torch.manual_seed(1)
    if what == "emb":
        good = torch.tensor([[1, 2, 3, 0, 1], [0, 1, 2, 3, 1]])
        first = bits(model(good))
        for _ in range(2):
            try:
                model(torch.full((2, 5), 10**6))
            except RuntimeError as e:
                print("RuntimeError:", str(e).splitlines()[0])
        print("the same" if bits(model(good)) == first else "different", sum(map(sum, first)))
        return
    x = torch.randn(2, 6, 16) if what != "conv" else torch.randn(4, 3, 8, 8)
    want = bits(model(x))
    print(sum(map(sum, want)))
    if what == "threads":
        wrong = []

        def work():
            for _ in range(1000):
                if bits(model(x)) != want:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(wrong), "wrong")
    if what == "kill":
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        while True:
            model(x)
    if what == "fork":
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            os._exit(bits(model(x)) != want)
        print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    main()
