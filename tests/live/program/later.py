"""The second call kills the process: what decides is a value of its inputs."""
import boom
import torch
import torch._inductor.config

torch._inductor.config.post_grad_custom_post_pass = boom.compiled


def f(x, i):
    return torch.ops.planted.boom(torch.cos(x) * 2, i).sin() + 1


g = torch.compile(f)
with torch.no_grad():
    for k in range(3):
        print(k, g(torch.randn(4, 5), torch.tensor(k)).sum())
