import torch
torch._dynamo.config.capture_scalar_outputs = True

@torch.compile(backend="aot_eager", fullgraph=True)
def crop(x, lengths):
    n = lengths.max().item()
    y = x[:, :n]
    if y.shape[1] > 4:
        y = y[:, :4]
    return y.sum()

crop(torch.ones(2, 8), torch.tensor([3, 5]))
