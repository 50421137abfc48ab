"""torch.compile programs, one fault each: jit.py SCENE. Each prints a sum of what it computed.

    fused     a logarithm in a fused Triton kernel, of something negative
    user      a Triton kernel of the user's that makes the NaN
    far       a Triton kernel of the user's that writes far outside of its tensor, and one behind it that reads what it should have written
    farside   the same on a stream of the program's own
    train     forward, backward, optimizer; the gradient of a root at zero is NaN
    scans     cumsum, logcumsumexp and an associative_scan, with a logarithm in the scan's kernel; scans:good of something positive
    graphs    CUDA graphs (mode="reduce-overhead"), no NaN
    late      the same with a logarithm, of something negative in the fifth call: a replay"""
import torch

import gpu

try:
    import triton
    import triton.language as tl

    @triton.jit
    def log_of_all(in_ptr, out_ptr, n, far, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at + far.to(tl.int64) * (1 << 36), tl.log(tl.load(in_ptr + at, at < n)), at < n)
except ImportError:
    assert not gpu.cuda


def with_kernel(x, far):
    x = torch.cos(x)
    if not gpu.cuda:
        return torch.log(x) + 1
    out = torch.empty_like(x)
    log_of_all[((x.numel() + 255) // 256,)](x, out, x.numel(), far, BLOCK=256)
    return out + 1


def matrix():
    return torch.rand(64, 64, device=gpu.device) + 0.1


def fused():
    print(gpu.total(torch.compile(lambda x: torch.log(torch.sin(x) - 2).sum(1))(matrix())))


def user():
    print(gpu.total(torch.compile(with_kernel, dynamic=True)(matrix() * 4, 0)))


def far():
    f = torch.compile(with_kernel, dynamic=True)
    behind = torch.compile(lambda y: torch.tanh(y).sum(1))
    print(gpu.total(behind(f(matrix(), 2))))


def farside():
    x = matrix()
    gpu.wait()
    with gpu.side_stream()[1]:
        f = torch.compile(with_kernel, dynamic=True)
        behind = torch.compile(lambda y: torch.tanh(y).sum(1))
        gpu.sleep(20)
        out = behind(f(x, 2))
    print(gpu.total(out))


def train():
    x = matrix()
    w = torch.zeros(64, 64, device=gpu.device, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    torch.compile(lambda x: torch.sqrt(((x @ w) ** 2).sum(1)).sum())(x).backward()
    optimizer.step()
    print(gpu.total(w))


def scans(how="bad"):
    x, w = matrix(), torch.eye(64, device=gpu.device)
    less = 0.5 if how == "bad" else 0
    # What the allocator hands out next is full of NaN: a result that was not yet written must not count as one that was read.
    spoiled = [torch.full((64, 64), float("nan"), device=gpu.device) for _ in range(8)]
    del spoiled
    from torch._higher_order_ops.associative_scan import associative_scan

    def cumsum(x):
        return torch.cumsum(torch.log(x - less), 1) @ w

    def logcumsumexp(x):
        return torch.logcumsumexp(torch.log(x - less), 1) @ w

    def scan(x):
        return associative_scan(lambda a, b: a * 0.5 + b, torch.log(x - less), 1, combine_mode="pointwise" if gpu.cuda else "generic") @ w

    for f in cumsum, logcumsumexp, scan:
        print(f.__name__, gpu.total(torch.compile(f)(x)), flush=True)


def graphs():
    x = matrix()
    f = torch.compile(lambda x: torch.softmax(x @ x, -1) * 2, mode="reduce-overhead")
    with torch.no_grad():
        for _ in range(6):
            out = f(x).clone()
    print(gpu.total(out))


def late():
    x = matrix()
    f = torch.compile(lambda x: torch.softmax(torch.log(x) @ x, -1), mode="reduce-overhead")
    with torch.no_grad():
        for i in range(6):
            out = f(x - (2 if i == 4 else 0)).clone()
            print(gpu.total(out), flush=True)


if __name__ == "__main__":
    gpu.play(globals())
