import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls

m = torch.compile(Net(), backend="aot_eager")
for i in range(5):
    m(torch.ones(3))
