"""A server in little, for probe.t: probe.py MODEL.pt2 WHAT. What it prints depends on the calls only."""
import multiprocessing
import sys
import threading

import torch

WHAT = sys.argv[2]


def inputs(last=torch.int32):
    g = torch.Generator().manual_seed(1)
    x = torch.randn(4, 6, 12, generator=g)
    y = torch.randn(6, 4, 12, generator=g).to(torch.bfloat16).transpose(0, 1)
    return x, torch.rand(4, 6, generator=g) > 0.5, torch.tensor(3, dtype=last), y


def digest(out):
    out = out if isinstance(out, (list, tuple)) else [out]
    return [t.contiguous().view(torch.uint8).to(torch.int64).mul(torch.arange(t.numel() * t.element_size()).view(*t.shape[:-1], -1) % 251)
            .sum().item() for t in out]


def try_call(f):
    try:
        print(digest(f()))
    except RuntimeError as e:
        print("RuntimeError:", str(e).splitlines()[0])


def child(n):
    model = torch._inductor.aoti_load_package(sys.argv[1])
    for _ in range(n):
        model(*inputs())


def main():
    if WHAT == "spawn":
        processes = [multiprocessing.get_context("spawn").Process(target=child, args=(7,)) for _ in range(2)]
        [p.start() for p in processes]
        [p.join() for p in processes]
        return
    model = torch._inductor.aoti_load_package(sys.argv[1])
    try_call(lambda: model(*inputs()))
    if WHAT == "bad":
        try_call(lambda: model(*inputs(torch.int64)))
        try_call(lambda: model.loader.run(list(inputs())[:3]))  # the model's own C++ exception
        try_call(lambda: model(*inputs()))
    if WHAT == "threads":
        wrong = []
        want = digest(model(*inputs()))

        def work():
            for _ in range(1000):
                if digest(model(*inputs())) != want:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(wrong), "wrong")
    if WHAT == "fork":
        p = multiprocessing.get_context("fork").Process(target=lambda: [model(*inputs()) for _ in range(5)])
        p.start()  # ends with os._exit
        p.join()
        print("child", p.exitcode)


if __name__ == "__main__":
    main()
