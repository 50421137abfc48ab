"""A Dynamo that forgets what compiled code stores into attributes. No graph is wrong; the state after the call is."""
import torch
import torch._dynamo.side_effects as side_effects

update = side_effects.SideEffects.codegen_update_mutated


def forget(self, *args, **kwargs):
    self.store_attr_mutations.clear()
    return update(self, *args, **kwargs)


side_effects.SideEffects.codegen_update_mutated = forget


class Counter:
    def __init__(self):
        self.calls = 0
        self.seen = []


counter = Counter()


@torch.compile
def step(x):
    counter.calls += 1
    return x * 2


step(torch.ones(3)), step(torch.ones(3))
assert torch.allclose(torch.tensor(float(counter.calls)), torch.tensor(2.0))
