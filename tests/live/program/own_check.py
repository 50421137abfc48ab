"""The program's own check of its numbers fails: torch's test bug in relu."""
import torch
import torch._inductor.config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "accuracy"
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
compiled = torch.compile(model)
for _ in range(3):
    x = torch.randn(16, 8) * 3
    y = compiled(x)
    torch.testing.assert_close(y, model(x))
    y.sum().backward()
