import torch

net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout())
run = torch.compile(net, backend="aot_eager")
net.train()
run(torch.ones(2, 4))
net.eval()
run(torch.ones(2, 4))
