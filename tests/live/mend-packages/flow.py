"""normflows: a normalizing flow, trained on two rings."""
# pip: normflows==1.7.3; tqdm
import normflows as nf
import torch

torch.manual_seed(0)
layers = []
for i in range(3):
    layers += [nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 16, 2], init_zeros=True)), nf.flows.Permute(2, mode="swap")]
model = nf.NormalizingFlow(nf.distributions.DiagGaussian(2), layers)
loss_of = torch.compile(model.forward_kld)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(8):
    angle = 6.28 * torch.rand(64)
    x = torch.stack([angle.cos(), angle.sin()], 1) * (1 + torch.randint(0, 2, (64, 1)))
    loss = loss_of(x)
    optimizer.zero_grad()
    if not (torch.isnan(loss) | torch.isinf(loss)):
        loss.backward()
        optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
