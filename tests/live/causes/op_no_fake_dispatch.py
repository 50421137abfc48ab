import torch

lib = torch.library.Library("shop", "DEF")
lib.define("cut(Tensor x) -> Tensor")
lib.impl("cut", lambda x: x[:2].clone(), "CPU")

def model(x):
    y = x + 1
    return torch.ops.shop.cut(y) * 2

torch.compile(model, backend="aot_eager", fullgraph=True)(torch.ones(4))
