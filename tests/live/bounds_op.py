"""A custom operator in a torch.compile program that writes past the end of its result: copies of kernels do not show it, --bounds=alloc does."""
import ctypes, sys, torch

@torch.library.custom_op("mylib::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    y.copy_(x * 2)
    ctypes.memset(y.data_ptr() + y.nbytes, 1, 4)      # 4 bytes past the end
    if "far" in sys.argv:
        ctypes.memset(y.data_ptr() + y.nbytes + 4000, 1, 200)
    return y

@scale.register_fake
def _(x): return torch.empty_like(x)

@torch.compile
def f(x): return torch.sin(scale(torch.cos(x))) + 1

with torch.no_grad():
    x = torch.randn(1003)
    for _ in range(3): f(x)
