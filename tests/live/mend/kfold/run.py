# two folds, train and eval, another model each time; the accuracy as a Python float in the compiled evaluation
import torch
import torch.nn.functional as F

from nets import MLP

torch.manual_seed(0)
X = torch.randn(60, 9)
Y = (X.sum(1) > 0).long()


@torch.compile
def evaluate(model, x, y):
    out = model(x)
    acc = (out.argmax(-1) == y).float().mean().item()
    print("acc %.3f" % acc)
    return F.cross_entropy(out, y)


for fold in range(2):
    model = MLP(9, 2)
    fast = torch.compile(model)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    test = torch.arange(60) % 2 == fold
    for i in range(4):
        idx = torch.randperm(30)[:12]
        loss = F.cross_entropy(fast(X[~test][idx]), Y[~test][idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print("fold", fold, "%.4f" % evaluate(model, X[test], Y[test]).item(), model.norm.steps)
