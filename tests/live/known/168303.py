"""pytorch#168303: foreach operators on the CPU with combo kernels."""
import torch
import torch._inductor.config

torch._inductor.config.combo_kernels = True
f = lambda a, b, c: (a.sin(), b.cos(), c.relu())
args = [torch.randn(8), torch.randn(16), torch.randn(32)]
