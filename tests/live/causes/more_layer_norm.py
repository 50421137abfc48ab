import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
    def forward(self, x):
        h = x.transpose(1, 2)
        return self.norm(h)

torch.compile(Net(), backend="aot_eager")(torch.ones(2, 8, 16))
