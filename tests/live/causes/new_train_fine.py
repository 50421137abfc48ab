import torch

net = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 2)), backend="aot_eager")
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for i in range(3):
    opt.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(torch.randn(4, 8)), torch.randint(0, 2, (4,)))
    loss.backward()
    opt.step()
