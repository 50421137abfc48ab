import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.abs().max() < 0.1:
                break
        return x

torch.compile(Net(), backend="aot_eager")(torch.ones(2, 4))
