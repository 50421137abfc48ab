import torch
import torch.nn as nn


class FeatureTable(nn.Module):
    """An embedding for each categorical feature; how often each feature came is counted, unknown ids go to 0."""

    def __init__(self, sizes, d=8):
        super().__init__()
        self.tables = nn.ModuleDict({k: nn.Embedding(n, d) for k, n in sizes.items()})
        self.counts = {k: 0 for k in sizes}
        self.unknown = 0

    def forward(self, batch):
        out = []
        for name, table in self.tables.items():
            if name not in batch:
                continue
            ids = batch[name]
            bad = ids >= table.num_embeddings
            if bad.any():
                self.unknown += int(bad.sum())
                ids = torch.where(bad, 0, ids)
            self.counts[name] += 1
            out.append(table(ids))
        return torch.stack(out).sum(0)
