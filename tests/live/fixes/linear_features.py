import torch

FIX = r"in_features=8, its input 9"
EDIT = "in_features="
SAME_VALUES = False

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.head = torch.nn.Linear(9 if AFTER else 8, 2)

    def forward(self, x):
        return self.head(x * 2)

def make():
    return Net()

def calls():
    yield torch.ones(3, 9),
