import torch

model = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)

@torch.compile(backend="eager")
def step():
    opt.step()

for i in range(5):
    model(torch.ones(2, 4)).sum().backward()
    opt.param_groups[0]["lr"] = 0.1 / (i + 1)
    step()
    opt.zero_grad()
