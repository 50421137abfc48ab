import torch

FIX = r"in_channels=1, not 3"
EDIT = "in_channels="
SAME_VALUES = False

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(1 if AFTER else 3, 4, 3)

    def forward(self, x):
        return self.conv(x).relu()

def make():
    return Net()

def calls():
    yield torch.ones(2, 1, 8, 8),
