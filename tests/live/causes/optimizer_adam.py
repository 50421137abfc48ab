import torch

model = torch.nn.Linear(4, 4)
opt = torch.optim.Adam(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
opt.step = torch.compile(opt.step, backend="eager")
for i in range(4):
    model(torch.ones(2, 4)).sum().backward()
    opt.step()
    sched.step()
    opt.zero_grad()
