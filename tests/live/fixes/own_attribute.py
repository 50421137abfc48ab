import torch

FIX = r"If the compiled function itself changes self\.history"

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        y = x * 2
        if not AFTER:
            self.history.append(y.detach())
        return y + 0 * len(self.history)

def make():
    return Net()

def calls():
    for i in range(4):
        yield torch.ones(3),
