import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(4, 4)
        with torch.device("meta"):
            self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.embed(x))

torch.compile(Net(), backend="aot_eager")(torch.ones(2, 4))
