import torch

def log_grad(param):
    return param.grad

m = torch.nn.Linear(4, 4)
m.weight.register_post_accumulate_grad_hook(log_grad)
f = torch.compile(m, backend="aot_eager")
f(torch.ones(2, 4)).sum().backward()
