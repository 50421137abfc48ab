"""Tensors of 64 MB (BIG_MB) of each floating-point type, each written by a compiled kernel, with a NaN at the very last element: big.py.
Prints what torch says of each: {"f32": {"elements", "nan", "inf", "min", "max", "mean"}}, of the numbers alone as tensors are described."""
import os

import torch

import gpu

TYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "f8e4m3": torch.float8_e4m3fn}
BYTES = int(os.environ.get("BIG_MB", "64")) << 20


def main():
    torch.manual_seed(0)
    facts = {}
    for name, dtype in TYPES.items():
        n = BYTES // dtype.itemsize
        x = torch.rand(n, device=gpu.device, dtype=torch.float32)
        x[n // 3] = -7.5
        x[n // 2] = 9.25
        x[-1] = float("nan")
        wide = dtype if dtype.itemsize > 1 else torch.float32
        y = torch.compile(lambda x, to: (x * 2 - 0.5).to(to), dynamic=False)(x.to(wide), dtype)
        assert y.dtype == dtype and y.numel() == n
        y = y.double()
        good = y[torch.isfinite(y)]
        facts[name] = {"elements": n, "nan": int(y.isnan().sum()), "inf": int(y.isinf().sum()), "min": good.min().item(), "max": good.max().item(),
                       "mean": good.mean().item()}
        del x, y, good
    gpu.tell(**facts)


main()
