"""pytorch#174340: repeat_interleave whose size is not known, and a custom lowering of it."""
import torch
import torch._dynamo.config

torch._dynamo.config.capture_dynamic_output_shape_ops = True
f = lambda x, n: torch.repeat_interleave(x, n) * 2
args = [torch.arange(3.0), torch.tensor([1, 2, 3])]
how = {"fullgraph": True}
