import torch

FIX = r"mask = mask\.bool\(\)    # before that line: true where it is attended to"
EDIT = "mask = mask.bool()"
SAME_VALUES = False

def before(q, mask):
    k = q * 2
    return torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)

def after(q, mask):
    k = q * 2
    mask = mask.bool()
    return torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)

EAGER = after

def calls():
    yield torch.ones(1, 2, 4, 8), torch.ones(4, 4, dtype=torch.long).tril()
