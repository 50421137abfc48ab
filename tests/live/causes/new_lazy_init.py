import torch

class Probe(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = None

    def forward(self, x):
        if self.proj is None:
            self.proj = torch.nn.Linear(x.shape[-1], 2)
        return self.proj(x)

model = torch.compile(Probe(), backend="aot_eager", fullgraph=True)
model(torch.ones(3, 4))
