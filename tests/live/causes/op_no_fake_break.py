import torch

lib = torch.library.Library("shop", "DEF")
lib.define("cut(Tensor x) -> Tensor")
lib.impl("cut", lambda x: x[:2].clone(), "CPU")

@torch.compile(backend="aot_eager")
def model(x):
    y = x + 1
    z = torch.ops.shop.cut(y)
    return z * 2

print(model(torch.ones(4)))
