"""Compiled functions on other streams than the default one, and in CUDA graphs that the program captures: streams.py SCENE.

    side[:FILE]  on a stream of its own, behind 50 ms of nothing and the copy that makes the input good; FILE.npy gets the result as torch has it
    captured     twice inside of torch.cuda.graph, replayed three times with other inputs"""
import torch

import gpu


def function(x, w):
    return torch.softmax(torch.log(x) @ w, 1).sum(1) + 1


def side(to=""):
    good = torch.rand(64, 64, device=gpu.device) + 0.1
    w = torch.rand(64, 64, device=gpu.device)
    f = torch.compile(function)
    f(good, w)  # compiled on the default stream
    gpu.wait()
    x = torch.full_like(good, float("nan"))
    gpu.wait()
    with gpu.side_stream()[1]:
        gpu.sleep(50)
        x.copy_(good)
        out = f(x, w)
    gpu.wait()
    if to:
        import numpy
        numpy.save(to, out.cpu().numpy())
    print(gpu.total(out), gpu.total(f(good, w)))


def captured():
    w = torch.rand(64, 64, device=gpu.device)
    x = torch.rand(64, 64, device=gpu.device) + 0.1
    f = torch.compile(function)
    if not gpu.cuda:
        print([gpu.total(f(x + i, w) + f(x + i, w)) for i in range(3)])
        return
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for _ in range(3):
            f(x, w)
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        out = f(x, w) + f(x, w)
    got = []
    for _ in range(3):
        x += 1
        g.replay()
        got.append(gpu.total(out))
    print(got, [gpu.total(f(x - i, w) * 2) for i in (2, 1, 0)])


if __name__ == "__main__":
    with torch.no_grad():
        gpu.play(globals())
