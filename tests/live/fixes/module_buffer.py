import torch

FIX = r"register_buffer"
EDIT = "register_buffer"

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 2

    def forward(self, x):
        self.calls += 1
        return x * self.calls

class Buffered(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.tensor(2))

    def forward(self, x):
        self.calls += 1
        return x * self.calls

def make():
    return Buffered() if AFTER else Net()

def calls():
    for i in range(5):
        yield torch.ones(3),
