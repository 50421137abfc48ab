import torch

torch._dynamo.config.capture_dynamic_output_shape_ops = True

@torch.compile(backend="aot_eager", fullgraph=True)
def model(x):
    y = x[x > 0]
    if y.shape[0] > 2:
        return y * 2
    return y

model(torch.ones(4))
