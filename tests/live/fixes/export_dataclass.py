import dataclasses
import torch

FIX = r"torch\.export\.register_dataclass\(Output\)"
EDIT = "register_dataclass("

@dataclasses.dataclass
class Output:
    logits: torch.Tensor

class Net(torch.nn.Module):
    def forward(self, x):
        return Output(x * 2)

class Export:
    def __call__(self, x):
        if AFTER:
            torch.export.register_dataclass(Output)
        return torch.export.export(Net(), (x,)).module()(x).logits

def make():
    return Export()

def wrap(f, compile):
    return f

def calls():
    yield torch.ones(4, 3),
