"""User f: InternalTorchDynamoError and the like."""
import torch


@torch.library.custom_op("app::scale", mutates_args=())
def scale(x: torch.Tensor, k: float) -> torch.Tensor:
    return x * k


@scale.register_fake
def _(x, k):
    raise KeyError("layout")


@torch.compile
def f(x):
    return scale(x.relu(), 2.0) + 1


f(torch.randn(8))
