"""torchmetrics inside of a compiled training step."""
# pip: torchmetrics==1.9.0; lightning-utilities packaging
import torch
from torch import nn
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score

torch.manual_seed(0)
net = nn.Linear(10, 5)
accuracy, f1 = MulticlassAccuracy(num_classes=5), MulticlassF1Score(num_classes=5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile
def loss_of(x, y):
    logits = net(x)
    accuracy.update(logits.detach(), y)
    f1.update(logits.detach(), y)
    return nn.functional.cross_entropy(logits, y)


for step in range(8):
    loss = loss_of(torch.randn(12, 10), torch.randint(0, 5, (12,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
print("accuracy %.4f, F1 %.4f" % (accuracy.compute().item(), f1.compute().item()))
