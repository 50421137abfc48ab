import torch

FIX = r"register_fake\(\"fixes::double"
NAME = "triple" if AFTER else "double"
LIB = torch.library.Library("fixes", "FRAGMENT")
LIB.define(f"{NAME}(Tensor x) -> Tensor")
LIB.impl(NAME, lambda x: x * 2, "CPU")
OP = getattr(torch.ops.fixes, NAME)

def before(x):
    return OP(x + 1)

after = before

def setup():
    torch.library.register_fake("fixes::" + NAME)(lambda x: torch.empty_like(x))

def calls():
    yield torch.ones(3),
