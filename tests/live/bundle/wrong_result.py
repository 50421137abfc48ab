"""Generated C++ that computes something else than eager does (torch's own switch for tests of its minifier)."""
import torch
from torch._inductor import config

config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"


@torch.compile
def f(x):
    return torch.relu(x) + 1


x = torch.ones(8, 8)
torch.testing.assert_close(f(x), torch.relu(x) + 1)
