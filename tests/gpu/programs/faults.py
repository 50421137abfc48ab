"""Errors of a GPU that poison a process: faults.py SCENE.

    assert      an index of an embedding that is too large: an assertion in the kernel
    misaligned  a user's Triton kernel stores at an odd address
    expandable  a user's Triton kernel writes far outside, with tensors of 64 MiB in expandable segments
    shrunk      the same segments, and no error of the GPU: a tensor whose storage became smaller than it
    pool        the far write with cudaMallocAsync"""
import os
import sys

if "pool" in sys.argv:
    os.environ["PYTORCH_ALLOC_CONF"] = os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync"
if "expandable" in sys.argv or "shrunk" in sys.argv:
    os.environ["PYTORCH_ALLOC_CONF"] = os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch  # noqa: E402

import gpu  # noqa: E402

try:
    import triton
    import triton.language as tl

    @triton.jit
    def odd_store(in_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        odd = (out_ptr.to(tl.pointer_type(tl.int8), bitcast=True) + 1).to(tl.pointer_type(tl.float32), bitcast=True)
        tl.store(odd + at, tl.load(in_ptr + at, at < n), at < n - 1)

    @triton.jit
    def far_store(in_ptr, out_ptr, n, far, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at + (far == 3).to(tl.int64) * (1 << 36), tl.load(in_ptr + at, at < n), at < n)
except ImportError:
    assert not gpu.cuda

MIB64 = 16 << 20  # elements


def asserted():
    weight = torch.rand(100, 64, device=gpu.device)
    f = torch.compile(lambda i: torch.nn.functional.embedding(i, weight).sum(1) * 2)
    i = torch.arange(100, device=gpu.device)
    print(gpu.total(f(i)), flush=True)
    print(gpu.total(f(i + 50)))


def misaligned():
    def f(x):
        x = torch.cos(x)
        out = torch.zeros_like(x)
        odd_store[((x.numel() + 255) // 256,)](x, out, x.numel(), BLOCK=256)
        return out + 1

    print(gpu.total(torch.compile(f)(torch.rand(64, 64, device=gpu.device))))


def far():
    def f(x, far):
        x = torch.cos(x)
        out = torch.empty_like(x)
        far_store[((x.numel() + 1023) // 1024,)](x, out, x.numel(), far, BLOCK=1024)
        return out + 1

    f = torch.compile(f, dynamic=True)  # both numbers are one graph: neither is 0 or 1
    x = torch.rand(MIB64, device=gpu.device)
    print(gpu.total(f(x, 2)), flush=True)
    print(gpu.total(f(x, 3)))


def shrunk():
    f = torch.compile(lambda x: torch.sin(x) + 1)
    x = torch.rand(MIB64, device=gpu.device)
    print(gpu.total(f(x)), flush=True)
    x.untyped_storage().resize_(MIB64)  # a quarter; what is behind it is still mapped
    f(x)
    gpu.wait()
    print("no error", flush=True)
    os._exit(0)


expandable = pool = far
globals()["assert"] = asserted

if __name__ == "__main__":
    gpu.play(globals())
