import torch

class Block(torch.nn.Module):
    def forward(self, x, mask):
        return x * mask

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)

torch.compile(Net(), backend="aot_eager", fullgraph=True)(torch.ones(3))
