"""Programs of plain torch.compile on a GPU, for jit.t: jit.py NAME. Each prints a sum of what it computed.

    fused     a logarithm in a fused Triton kernel, of something negative
    user      a Triton kernel of the user's that makes the NaN
    far       a Triton kernel of the user's that writes far outside of its tensor
    graphs    CUDA graphs (mode="reduce-overhead"), no NaN
    train     forward, backward, optimizer; the gradient of a root at zero is NaN"""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def log_of_all(in_ptr, out_ptr, n, far, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at + far.to(tl.int64) * (1 << 36), tl.log(tl.load(in_ptr + at, at < n)), at < n)


def with_kernel(x, far):
    x = torch.cos(x)
    out = torch.empty_like(x)
    log_of_all[((x.numel() + 255) // 256,)](x, out, x.numel(), far, BLOCK=256)
    return out + 1


def main(name):
    torch.manual_seed(0)
    x = torch.rand(64, 64, device="cuda") + 0.1
    if name == "fused":
        out = torch.compile(lambda x: torch.log(torch.sin(x) - 2).sum(1))(x)
    elif name in ("user", "far"):
        out = torch.compile(with_kernel, dynamic=True)(x * (4 if name == "user" else 1), 2 if name == "far" else 0)
    elif name == "graphs":
        f = torch.compile(lambda x: torch.softmax(x @ x, -1) * 2, mode="reduce-overhead")
        with torch.no_grad():
            for _ in range(5):
                out = f(x).clone()
    else:
        w = torch.zeros(64, 64, device="cuda", requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        torch.compile(lambda x: torch.sqrt(((x @ w) ** 2).sum(1)).sum())(x).backward()
        optimizer.step()
        out = w.detach()
    torch.cuda.synchronize()
    print(out.double().sum().item())


if __name__ == "__main__":
    main(sys.argv[1])
