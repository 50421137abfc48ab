# click prediction: dicts of features of which one is sometimes missing, unknown ids counted, an AUC in Python after each step
import torch
import torch.nn as nn
import torch.nn.functional as F

from embed import FeatureTable


class CTR(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = FeatureTable({"user": 20, "item": 30, "ad": 5})
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, batch):
        return self.mlp(self.table(batch)).squeeze(-1)


def auc(score, label):
    pos = [s for s, l in zip(score, label) if l]
    neg = [s for s, l in zip(score, label) if not l]
    return sum(p > n for p in pos for n in neg) / max(1, len(pos) * len(neg))


@torch.compile
def train_step(model, batch, label):
    logit = model(batch)
    loss = F.binary_cross_entropy_with_logits(logit, label)
    print("auc %.3f" % auc(logit.sigmoid().tolist(), label.tolist()))
    return loss


torch.manual_seed(0)
model = CTR()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
for i in range(6):
    batch = {"user": torch.randint(0, 20, (16,)), "item": torch.randint(0, 31, (16,))}
    if i % 2:
        batch["ad"] = torch.randint(0, 5, (16,))
    loss = train_step(model, batch, torch.randint(0, 2, (16,)).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(i, "%.4f" % loss.item())
print(model.table.counts, model.table.unknown)
