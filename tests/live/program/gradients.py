"""Wrong gradients of a small training step, whose forward results are right: what is wrong is in wronggrad.py."""
import sys

import torch
import torch._inductor.config as config

if sys.argv[1:] == ["joint"]:
    import wronggrad
    config.joint_custom_post_pass = wronggrad.joint


class Block(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(d), torch.nn.Linear(d, 2 * d), torch.nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x)), approximate="tanh"))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = Block(16), torch.nn.Linear(16, 4)

    def forward(self, x, y):
        return (torch.sigmoid(self.head(torch.tanh(self.blocks(x)))) - y).abs().mean()


torch.manual_seed(0)
net = Net()
step = torch.compile(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    x, y = torch.randn(8, 16), torch.randn(8, 4)
    optimizer.zero_grad()
    step(x, y).backward()
    for p, g in zip(net.parameters(), torch.autograd.grad(net(x, y), list(net.parameters()))):
        torch.testing.assert_close(p.grad, g)
    optimizer.step()
print("done")
