"""A bug of torch's, made: Inductor's tanh is 1.25 times as large."""
import torch
import torch._inductor.lowering as lowering

tanh = lowering.lowerings[torch.ops.aten.tanh.default]
lowering.lowerings[torch.ops.aten.tanh.default] = lambda x: lowering.lowerings[torch.ops.aten.mul.Tensor](tanh(x), 1.25)
