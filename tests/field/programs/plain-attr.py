# main.py | 213
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.fc2(self.fc1(x))

model = Net()
print("eager:", model(torch.randn(1, 4)).shape)
model = torch.compile(model)
