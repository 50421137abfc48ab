"""pytorch#192071: torch.compile of a class, with caching_precompile."""
import torch
import torch._dynamo.config


def main():
    if not hasattr(torch._dynamo.config, "caching_precompile"):
        return
    with torch._dynamo.config.patch(caching_precompile=True):

        @torch.compile(backend="eager")
        class Foo:
            def __call__(self, x):
                return x.sin()
