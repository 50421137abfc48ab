import torch

class Multi(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleDict({t: torch.nn.Linear(4, 2) for t in ("ner", "pos", "dep")})

    def forward(self, x, task):
        return self.heads[task](x)

model = torch.compile(Multi(), backend="aot_eager")
for task in "ner", "pos", "dep":
    model(torch.ones(1, 4), task)
