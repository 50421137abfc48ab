"""pytorch#159239: emulate_precision_casts on the CPU."""
import torch
import torch._inductor.config

torch._inductor.config.emulate_precision_casts = True
f = lambda x: (x * 3 + 1).sin()
args = [torch.randn(64).bfloat16()]
