"""Several at once: threads.py SCENE.

    streams   two threads, each with a model of its own on a stream of its own, behind 50 ms of sleep: prints what each computed; streams:bad, one makes NaN
    forked    a server: the parent imports torch, two children start CUDA and compute; forked:bad, the second makes NaN
    pinned    inputs in pinned memory, copied asynchronously; outputs copied back the same way"""
import os
import sys
import threading

import torch

import gpu


def twice(x):
    return torch.softmax(torch.sin(x) @ x, 1) * 2


def logs(x):
    return torch.log(torch.cos(x) + 1).sum(1)


def streams(how="good"):
    inputs = [torch.rand(128, 128, device=gpu.device) for _ in range(2)]
    models = [torch.compile(f) for f in (twice, logs)]
    with torch.no_grad():  # as below: another mode is another graph
        for model, x in zip(models, inputs):
            model(x)
    gpu.wait()
    results, failed = [None, None], []

    def work(i):
        try:
            with torch.no_grad(), gpu.side_stream()[1]:
                for n in range(3):
                    later = torch.full_like(inputs[i], float("nan"))
                    gpu.sleep(50)
                    later.copy_(inputs[i])
                    if how == "bad" and i == 1 and n == 1:
                        later[5, 7] = float("inf")
                    out = models[i](later)
                results[i] = out.cpu()
        except Exception as e:  # told below: a thread's end is silent
            failed.append(repr(e))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("streams:", failed or [f"{r.double().sum().item():.6g}" for r in results], flush=True)


def forked(how="good"):
    torch.set_num_threads(1)
    print(f"parent: {torch.rand(3).sum().item():.6g}", flush=True)
    children = []
    for i in range(2):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                torch.manual_seed(i)
                x = torch.rand(64, 64, device=gpu.device)
                if how == "bad" and i == 1:
                    x[5, 7] = float("inf")
                out = torch.compile(logs)(x)
                print(f"child {i}: {gpu.total(out):.6g}", flush=True)
                status = 0
            finally:
                os._exit(status)
        children.append(pid)
        os.waitpid(pid, 0)


def pinned():
    given = [torch.rand(1 << 20, pin_memory=gpu.cuda) for _ in range(3)]
    back = [torch.empty(1 << 20, pin_memory=gpu.cuda) for _ in range(3)]
    f = torch.compile(lambda x: torch.sqrt(x) * 2 + torch.sin(x))
    with gpu.side_stream()[1]:
        for x, y in zip(given, back):
            y.copy_(f(x.to(gpu.device, non_blocking=True)), non_blocking=True)
    gpu.wait()
    print("pinned:", [f"{y.double().sum().item():.8g}" for y in back], flush=True)


if __name__ == "__main__":
    gpu.play(globals())
    sys.stdout.flush()
