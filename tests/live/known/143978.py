"""pytorch#143978: sin(atan(x)) loses NaN: g++ folds the pair."""
import torch

f = lambda x: torch.sin(torch.atan(x))
args = [torch.tensor([float("nan"), 1.0, 2.0])]
