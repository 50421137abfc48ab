import torch

class Gate(torch.nn.Module):
    def forward(self, x):
        y = x.tanh()
        return y * 2 if y.abs().max() > 0.5 else y

torch.compile(Gate(), backend="aot_eager")(torch.ones(3))
