# serve.py | 213
import torch

class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.lin(x)
        if y.mean() > 0:
            y = y * 2
        return y

head = torch.compile(Head(), fullgraph=True, backend="eager")
head(torch.randn(2, 4))
