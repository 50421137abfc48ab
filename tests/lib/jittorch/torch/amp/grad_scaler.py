"""The part of torch/amp/grad_scaler.py that share/jit/scaler.py sees: step() is told whether there are infinities."""


class _Found:
    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class GradScaler:
    def __init__(self, scale=8.0, enabled=True):
        self._enabled, self._scale, self._per_optimizer_states = enabled, scale, {}

    def get_scale(self):
        return self._scale

    def scale(self, loss):
        return loss

    def step(self, found):
        self._per_optimizer_states[0] = {"found_inf_per_device": {"cpu": _Found(float(found))}}

    def update(self):
        found = any(f.item() for s in self._per_optimizer_states.values() for f in s["found_inf_per_device"].values())
        self._scale *= 0.5 if found else 1
        self._per_optimizer_states = {}
