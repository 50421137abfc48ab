class Capture:
    """Keeps what named layers return."""

    def __init__(self, model, names):
        self.features = {}
        for name, m in model.named_modules():
            if name in names:
                m.register_forward_hook(self.hook(name))

    def hook(self, name):
        def keep(module, args, out):
            self.features[name] = out
        return keep
