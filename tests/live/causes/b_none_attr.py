import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = None

    def forward(self, x):
        return self.norm(x)

torch.compile(Net(), backend="aot_eager", fullgraph=True)(torch.ones(3))
