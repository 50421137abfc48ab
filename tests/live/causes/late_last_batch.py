import torch

net = torch.compile(torch.nn.Linear(6, 2), backend="aot_eager")
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(19, 6)), batch_size=8)
for epoch in range(2):
    for (x,) in data:
        net(x)
