"""pytorch_metric_learning: embeddings with a miner and a triplet loss."""
# pip: pytorch-metric-learning==2.9.0; scikit-learn tqdm scipy joblib threadpoolctl
import torch
from torch import nn
from pytorch_metric_learning import losses, miners

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
mine, triplets = miners.TripletMarginMiner(margin=0.2), losses.TripletMarginLoss(margin=0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


@torch.compile
def loss_of(x, labels):
    embeddings = net(x)
    return triplets(embeddings, labels, mine(embeddings, labels))


for step in range(8):
    loss = loss_of(torch.randn(16, 16), torch.randint(0, 4, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
