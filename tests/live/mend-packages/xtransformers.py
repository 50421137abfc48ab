"""x_transformers: a small language model, trained, then sampled."""
# pip: x-transformers==2.31.10; einops==0.8.2 einx==0.4.3 frozendict loguru packaging torch-einops-utils==0.2.0 assoc-scan==0.0.6
import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
model = AutoregressiveWrapper(TransformerWrapper(num_tokens=50, max_seq_len=32, attn_layers=Decoder(dim=32, depth=2, heads=2, attn_dim_head=16)), pad_value=0)
loss_of = torch.compile(model)
sample = torch.compile(model.generate)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(6):
    loss = loss_of(torch.randint(1, 50, (4, 17)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
model.eval()
print(sample(torch.ones(2, 4, dtype=torch.long), 6, eos_token=3, temperature=0.0))
