import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x * self.scale

torch.compile(Net(), backend="aot_eager")(torch.ones(3))
