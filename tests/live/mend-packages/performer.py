"""performer_pytorch: a small language model, trained."""
# pip: performer-pytorch==1.1.4; einops==0.8.2 local-attention==1.11.2 axial-positional-embedding==0.3.12 hyper-connections==0.4.11 torch-einops-utils==0.2.0
import torch
from performer_pytorch import PerformerLM

torch.manual_seed(0)
model = PerformerLM(num_tokens=40, max_seq_len=32, dim=32, depth=2, heads=2, dim_head=16, causal=False, feature_redraw_interval=4, nb_features=16)
forward = torch.compile(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(10):
    x = torch.randint(0, 40, (2, 32))
    loss = torch.nn.functional.cross_entropy(forward(x).transpose(1, 2), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
