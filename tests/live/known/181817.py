"""pytorch#181817: fullgraph=True with the stance eager_on_recompile."""
import torch


def main():
    f = torch.compile(lambda x, n: x + n, backend="eager", fullgraph=True, dynamic=False)
    f(torch.ones(3), 1)
    with torch.compiler.set_stance("eager_on_recompile"):
        f(torch.ones(3), 2)
