import torch

class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 4)

    def forward(self, images):
        return self.fc(images.flatten(1)).softmax(-1)

head = Head()
fast = torch.compile(head, backend="aot_eager")
for batch in (8, 3, 1):
    fast(torch.randn(batch, 4, 4))
