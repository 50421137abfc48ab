"""User h: a bug of torch, for a report."""
import torch
import torch._inductor.config as config

config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"


@torch.compile
def f(x, w):
    return (torch.relu(x @ w) * 2 + x.sum()).tanh()


f(torch.randn(8, 8), torch.randn(8, 8))
