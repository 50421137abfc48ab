"""pytorch#117543: a number that is too large for float16."""
import torch

f = lambda x, y: torch.sub(x, y)
args = [torch.full((4,), -torch.inf, dtype=torch.float16), torch.tensor(-70000)]
