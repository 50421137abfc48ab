"""User c: the loss is NaN since it is compiled."""
import torch

torch.manual_seed(0)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 8)

    def forward(self, x, mask):
        q = self.fc(x)
        a = (q @ q.transpose(-1, -2)).masked_fill(~mask, float("-inf")).softmax(-1)
        return (a @ q).pow(2).mean()


model = torch.compile(Attention())
for i in range(2):
    mask = torch.ones(2, 6, 6, dtype=torch.bool)
    if i == 1:
        mask[1, 3, :] = False
    print(i, model(torch.randn(2, 6, 8), mask).item())
