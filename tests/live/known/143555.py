"""pytorch#143555: a right shift by 64 bits."""
import torch

f = lambda x, n: torch.bitwise_right_shift(x, n)
args = [torch.tensor(1000), torch.tensor(64)]
