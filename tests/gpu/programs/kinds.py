"""Kinds of kernels that Inductor generates on a GPU alone: kinds.py SCENE. Each prints "SCENE: SUM".

    template     a matrix product as a Triton template (max_autotune), with an epilogue
    flex         flex_attention with a causal mask, forward and backward
    combo        several small kernels in one launch
    multi        a reduction of which two kernels are tried
    cooperative  a reduction by blocks that wait for each other
    wrapper      the graph's code in C++ (cpp_wrapper), called three times; wrapper:bad makes a NaN in each"""
import torch
import torch._inductor.config as inductor

import gpu


def setting(where, **values):
    for name, value in values.items():
        if hasattr(where, name):  # not of every torch
            setattr(where, name, value)


def template():
    setting(inductor, max_autotune_gemm=True, max_autotune_gemm_backends="TRITON" if gpu.cuda else "ATEN")
    setting(getattr(inductor, "test_configs", None), max_mm_configs=2)
    a, b = torch.randn(2, 256, 256, device=gpu.device).unbind(0)
    f = torch.compile(lambda a, b: torch.relu(torch.sin(a) @ b + 1).sum(1))
    with torch.no_grad():
        print(f"template: {gpu.total(f(a, b)):.6g}", flush=True)


def flex():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    q, k, v = (torch.randn(1, 2, 256, 64, device=gpu.device, requires_grad=gpu.cuda) for _ in range(3))
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, device=gpu.device)
    out = torch.compile(flex_attention)(torch.cos(q), k, v, block_mask=mask)
    if gpu.cuda:
        out.square().sum().backward()
    print(f"flex: {gpu.total(out):.6g} {gpu.total(q.grad) if gpu.cuda else 0:.6g}", flush=True)


def combo():
    setting(inductor, combo_kernels=True, combo_kernels_autotune=0, benchmark_combo_kernel=False)
    x, y, z = torch.rand(64, 32, device=gpu.device), torch.rand(100, device=gpu.device), torch.rand(7, 9, device=gpu.device)
    out = torch.compile(lambda x, y, z: (torch.sin(x), torch.cos(y) * 2, torch.exp(z).sum(1)))(x, y, z)
    print(f"combo: {sum(gpu.total(t) for t in out):.6g}", flush=True)


def multi():
    setting(inductor.triton, multi_kernel=1)
    inductor.force_disable_caches = True  # torch 2.11 fails by itself when it finds a multi-kernel in its cache of graphs
    x = torch.rand(256, 512, device=gpu.device)
    out = torch.compile(lambda x: torch.softmax(torch.sin(x), -1) * 3)(x)
    print(f"multi: {gpu.total(out):.4f}", flush=True)


def cooperative():
    setting(inductor.triton, force_cooperative_reductions=True, cooperative_reductions=True)
    x = torch.rand(4, 1 << 18, device=gpu.device)
    out = torch.compile(lambda x: torch.exp(x).sum(1) + 1)(x)
    print(f"cooperative: {gpu.total(out):.1f}", flush=True)


def wrapper(how="good"):
    setting(inductor, cpp_wrapper=True, cpp_cache_precompile_headers=False)  # whose compilation takes longer than all others
    f = torch.compile(lambda x, w: torch.softmax(torch.log(torch.sin(x) - (2 if how == "bad" else -2)) @ w, 1).sum(0))
    x, w = torch.rand(64, 32, device=gpu.device), torch.rand(32, 16, device=gpu.device)
    with torch.no_grad():
        for _ in range(3):
            out = f(x, w)
    print(f"wrapper: {gpu.total(out):.6g}", flush=True)


if __name__ == "__main__":
    gpu.play(globals())
