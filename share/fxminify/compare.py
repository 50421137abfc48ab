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


def shown(expected, actual):
    """Two results as lines: whole if they are short; else the tensors that differ, as torch shortens them, and how torch says they do."""
    import torch
    from torch.utils import _pytree as tree
    def two(at, a, b):
        texts = [" ".join(repr(v).split()) for v in (a, b)]
        return [f"{name}{at} = {text if len(text) <= 260 else text[:260] + ' ...'}" for name, text in zip(("expected", "actual"), texts)]
    whole, lines, old = two("", expected, actual), [], dict(vars(torch._tensor_str.PRINT_OPTS))
    ref, res = (tree.tree_flatten_with_path(v)[0] for v in (expected, actual))
    if len(whole[0] + whole[1]) <= 400 and "..." not in whole[0] or len(ref) != len(res):
        return whole
    try:
        torch.set_printoptions(threshold=16, edgeitems=2, linewidth=1 << 16)
        for (at, a), (_, b) in zip(ref, res):
            how, at = how_differ(a, b), tree.keystr(at)
            if how and len(lines) < 6:  # two of them
                lines += two(at, a, b)
                lines += [f"actual{at} differs: {how}"] if isinstance(a, torch.Tensor) else []
    finally:
        vars(torch._tensor_str.PRINT_OPTS).update(old)
    return lines or whole


def how_differ(expected, actual):
    """As torch.testing says it: "mismatched elements: 3 / 64 (4.7%), greatest absolute difference: 0.5 at index (0, 3)"; "": they do not."""
    import torch
    try:
        torch.testing.assert_close(actual, expected, rtol=1e-3, atol=1e-3, equal_nan=True)
        return ""
    except (AssertionError, TypeError) as e:
        said = [line.split(" (up to ")[0].rstrip(".") for line in str(e).splitlines() if line and "relative" not in line]
    said = [line for line in said if "are not close" not in line and "are not equal" not in line]
    return ", ".join(line[0].lower() + line[1:] for line in said)
