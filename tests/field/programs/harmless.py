# train.py | 213
import torch

net = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 4)), batch_size=4, pin_memory=True)
step = torch.compile(lambda x: net(x).pow(2).mean(), backend="aot_eager")
for (x,) in data:
    sched.step()
    loss = step(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", float(loss))
