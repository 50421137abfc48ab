"""How results differ from eager's: what a test of fxminify calls a failure (oracle.py), and what `fxminify -- python app.py` looks for in each call
of a compiled graph (catch.py, which it precedes). Only functions, which import what they need: this runs in the user's program, too."""


def difference(ref, res, wide, strict):
    """None, or how two values differ: torch._dynamo.utils.same decides for floats. Integers and booleans may be computed from
    floats, so unless the mode is strict a few may differ, and only differences that double precision confirms count."""
    import torch
    from torch._dynamo import config
    from torch._dynamo.utils import same
    if not isinstance(ref, torch.Tensor) or not isinstance(res, torch.Tensor):
        if type(ref) is not type(res) and (isinstance(ref, torch.Tensor) or isinstance(res, torch.Tensor)):
            return "type"
        return None if ref == res or isinstance(ref, float) and same(ref, res, tol=config.repro_tolerance, equal_nan=True) else "number"
    if ref.shape != res.shape:
        return "shape"
    if ref.dtype != res.dtype:
        return "dtype"
    if not (ref.is_floating_point() or ref.is_complex()):
        if config.repro_ignore_non_fp:
            return None
        off = ref != res
        if not strict and isinstance(wide, torch.Tensor) and wide.shape == ref.shape:
            off &= wide.to(ref.dtype) == ref
        n = int(off.sum())
        return ("bool" if ref.dtype == torch.bool else "integer") if n > (0 if strict else ref.numel() // 100) else None
    ref, res = ref.detach(), res.detach()
    wide = wide.detach() if isinstance(wide, torch.Tensor) and wide.shape == ref.shape else None
    if same(ref, res, wide, tol=config.repro_tolerance, equal_nan=True, log_error=lambda *a, **k: None):
        return None
    if (res.isnan() & ~ref.isnan()).any():
        return "nan"
    if (res.isinf() & ~ref.isinf()).any():
        return "infinity"
    return "values"


def differences(ref, res, wide, strict):
    from torch.utils._pytree import tree_leaves
    ref, res, wide = tree_leaves(ref), tree_leaves(res), tree_leaves(wide) if wide is not None else []
    if len(ref) != len(res):
        return [(0, "number of outputs")]
    out = [(i, difference(a, b, wide[i] if len(wide) == len(ref) else None, strict)) for i, (a, b) in enumerate(zip(ref, res))]
    return [(i, d) for i, d in out if d]


