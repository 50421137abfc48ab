"""A torch.compile program one of whose kernels writes past the end of its output, and one that reads before its input."""
import re, sys, torch
from torch._inductor.async_compile import AsyncCompile

torch.set_num_threads(1)
real = AsyncCompile.cpp_pybinding


def planted(self, argtypes, source_code):
    if "--plain" not in sys.argv:
        source_code, n = re.subn(r"(\.store\(out_ptr0 \+ static_cast<int64_t>\(x0\), static_cast<int64_t>\()(\d+)L\)",
                                 lambda m: "%s%dL)" % (m[1], int(m[2]) + 3), source_code)
        print("planted", n)
    return real(self, argtypes, source_code)


AsyncCompile.cpp_pybinding = planted


@torch.compile
def f(x):
    return torch.sin(x) + 1


with torch.no_grad():
    x = torch.randn(1003)
    for _ in range(3):
        y = f(x)
    print((y - torch.sin(x) - 1).abs().max().item())
