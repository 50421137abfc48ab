import torch
import torch.nn.functional as F

class Attention(torch.nn.Module):
    def forward(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

q = torch.ones(1, 2, 4, 8)
mask = torch.ones(4, 4, dtype=torch.long)
torch.compile(Attention(), backend="aot_eager")(q, q, q, mask)
