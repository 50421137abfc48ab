# forecasting: windows are checked for NaN, statistics are kept by the scaler, batches counted in a module's dict, a small last batch
import torch
import torch.nn.functional as F

import scaling
from layers import DLinear

torch.manual_seed(0)
model = DLinear(24, 6)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
predict = torch.compile(model)
series = torch.randn(22, 30, 2).cumsum(1)
series[3, :, 1] = 2.0
for epoch in range(2):
    total = 0.0
    for batch in series.split(8):
        loss = F.l1_loss(predict(batch[:, :24]), batch[:, 24:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch} mae {total / len(series):.4f} {scaling.seen}")
