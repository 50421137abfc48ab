"""As torch/optim/optimizer.py has it: hooks of all optimizers, a class whose step is marked when one is made."""
hooks = []


def register_optimizer_step_post_hook(hook):
    hooks.append(hook)


class Optimizer:
    def __init__(self):
        type(self).step.hooked = True


class SGD(Optimizer):
    def step(self):
        for hook in hooks:
            hook(self, (), {})
