"""pytorch#145561: a view of a tensor whose size depends on data."""
import torch
import torch._dynamo.config

torch._dynamo.config.capture_dynamic_output_shape_ops = True


def f(x):
    y = x.nonzero()
    return y.reshape(-1).view(-1, 2).t().reshape(2, -1)


args = [torch.tensor([[1, 0], [0, 2], [3, 4]])]
how = {"fullgraph": True}
