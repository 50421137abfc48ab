"""Steps that torch.amp.GradScaler skips: it finds the infinities of a loss that it has scaled too far, leaves the weights as they are, and
lowers its scale. Those infinities are its own. Loaded after rewrite.py, into the same names.

    torch/amp/grad_scaler.py, torch/distributed/fsdp/sharded_grad_scaler.py (2.6 to 2.15):
        scale(loss)      the loss times _scale: what is computed from here on may overflow
        step(optimizer)  _amp_foreach_non_finite_check_and_unscale_ leaves found_inf in _per_optimizer_states; with 1 there is no step
        update()         _amp_update_scale_, and _per_optimizer_states is empty again

libprobe records each: where in the order of calls a scaler was made, scaled first, and updated."""


def _found_infinities(scaler):
    states = getattr(scaler, "_per_optimizer_states", None) or {}
    found = [f for s in list(states.values()) for f in (s.get("found_inf_per_device") or {}).values()]
    return any(f.item() for f in found)


def _before_update(scaler):
    """(its scale, a step was skipped); the scale is not asked for otherwise, because on a GPU that waits."""
    skipped = _found_infinities(scaler)
    return scaler.get_scale() if skipped else 0.0, skipped


def _watch_scaler(cls):
    import ctypes

    library = _library()  # noqa: F821
    library.pt2_jit_scaler_updated.argtypes = [ctypes.c_double, ctypes.c_int]

    def around(name, before, after):
        original = cls.__dict__.get(name)
        if original is None:
            return

        def method(self, *args, **kwargs):
            import torch.compiler

            if torch.compiler.is_compiling() or (before and not getattr(self, "_enabled", False)):
                return original(self, *args, **kwargs)
            held = None
            try:
                held = before(self) if before else None
            except Exception as e:
                _failed("a GradScaler", e)  # noqa: F821
            result = original(self, *args, **kwargs)
            if after and getattr(self, "_enabled", False):
                after(held)
            return result

        method.__name__, method.__qualname__, method.__doc__, method.__wrapped__ = name, original.__qualname__, original.__doc__, original
        setattr(cls, name, method)

    around("__init__", None, lambda _: library.pt2_jit_scaler_made())
    around("scale", lambda _: library.pt2_jit_scaler_scaled(), None)
    around("update", _before_update, lambda held: held and library.pt2_jit_scaler_updated(*held))


def after_grad_scaler(module):
    if not (_library() and _State.wants & CALLS and _State.wants & CALLS_BAD):  # noqa: F821
        return
    for name in ("GradScaler", "ShardedGradScaler"):
        cls = getattr(module, name, None)
        if getattr(cls, "__module__", None) == module.__name__:
            _watch_scaler(cls)
