import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(4, 4)

    def forward(self, x):
        y = x * 2
        out, h = self.rnn(y)
        return out.relu()

torch.compile(Net(), backend="aot_eager")(torch.ones(3, 2, 4))
