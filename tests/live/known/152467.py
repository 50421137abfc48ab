"""pytorch#152467: export of InstanceNorm1d."""
import torch


def main():
    torch.export.export(torch.nn.InstanceNorm1d(3), (torch.randn(2, 3, 5),), dynamic_shapes=({0: torch.export.Dim.AUTO},), strict=False)
