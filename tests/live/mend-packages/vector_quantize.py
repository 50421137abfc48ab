"""An autoencoder with vector_quantize_pytorch's codebook, trained."""
# pip: vector-quantize-pytorch==1.32.0; einops==0.8.2 einx==0.4.3 frozendict loguru torch-einops-utils==0.2.0 assoc-scan==0.0.6
import torch
from torch import nn
from vector_quantize_pytorch import VectorQuantize

torch.manual_seed(0)
encode, decode = nn.Linear(16, 24), nn.Linear(24, 16)
codebook = VectorQuantize(dim=24, codebook_size=32, kmeans_init=True, kmeans_iters=3, threshold_ema_dead_code=2)
quantize = torch.compile(codebook)
optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters()], lr=1e-3)
for step in range(8):
    x = torch.randn(4, 20, 16)
    codes, indices, commitment = quantize(encode(x))
    loss = nn.functional.mse_loss(decode(codes), x) + commitment.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f, %d codes used" % (step, loss.item(), indices.unique().numel()))
