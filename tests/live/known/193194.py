"""pytorch#193194: a float of the program in a branch of torch.cond."""
import torch


def main():
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 1.5

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda v: v * self.scale, lambda v: v - self.scale, (x,)) * self.scale

    m = M()
    g = torch.compile(m)
    x = torch.ones(3)
    for s in (1.5, 2.5, 3.5):
        m.scale = s
        torch.testing.assert_close(g(x), m(x))
