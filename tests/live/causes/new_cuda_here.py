import torch

net = torch.nn.Linear(4, 4)
step = torch.compile(lambda x: net(x.cuda()), backend="aot_eager")
step(torch.ones(2, 4))
