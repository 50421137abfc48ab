"""What `fxexplain run --wrong` puts before a program, as sitecustomize: after each outermost call of a compiled function, what that call can
have changed, as one line of JSON. The same program, eager and compiled, then shows what Dynamo lost.

    PT2_STATE_BACKEND    eager, aot_eager: instead of the one the program asks for
    PT2_STATE_REPORT     where the lines go

State is what is reachable from the function: its result, its arguments, what its closure captures, the globals it names, the attributes of its
object; lists, dicts, sets and attributes of those, DEEPEST levels deep. Tensors are digests of their bytes. Nothing of torch's own is entered.
share/jit/after_import.py precedes this. Python 3.8 and newer."""
import os
import sys

CALLS, ENTRIES, DEEPEST, SHOWN = 200, 400, 4, 160
_depth, _calls = 0, 0


def _tensor(t):
    import hashlib

    try:
        t = t.detach()
        if t.is_sparse or t.is_quantized or t.device.type == "meta":
            return "tensor of %s" % t.dtype
        t = t.cpu().contiguous()
        text = "%s%s" % (str(t.dtype).replace("torch.", ""), list(t.shape))
        import torch

        raw = hashlib.sha1(t.reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:8]
        if t.is_complex() or t.numel() == 0:
            return "%s, bytes %s" % (text, raw)
        if t.numel() <= 8:
            return "%s [%s], bytes %s" % (text, ", ".join("%.6g" % v for v in t.reshape(-1).tolist()), raw)
        return "%s sum %.6g, bytes %s" % (text, float(t.double().sum()), raw)
    except Exception as e:  # a subclass that can do none of this
        return type(e).__name__


def _is_torchs(value):
    name = getattr(type(value), "__module__", "") or ""
    return name.split(".")[0] in ("torch", "functools", "builtins", "logging", "threading", "_thread", "re")


def _walk(state, name, value, depth, seen):
    import types

    import torch

    if len(state) >= ENTRIES or isinstance(value, (types.ModuleType, type)):
        return
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        state[name] = repr(value)[:SHOWN]
        return
    if isinstance(value, torch.Tensor):
        state[name] = _tensor(value)
        return
    if id(value) in seen or depth > DEEPEST:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        plain = repr(value)[:SHOWN] if not _holds(value) else "%s of %d" % (type(value).__name__, len(value))
        state[name] = plain
        if isinstance(value, dict):
            for k in list(value)[:64]:
                if _holds([value[k]]):
                    _walk(state, "%s[%r]" % (name, k), value[k], depth + 1, seen)
        elif isinstance(value, (list, tuple)):
            for i, v in enumerate(value[:64]):
                if _holds([v]):
                    _walk(state, "%s[%d]" % (name, i), v, depth + 1, seen)
    elif isinstance(value, (types.FunctionType, types.MethodType)):
        _function(state, name, value, depth, seen)
    elif isinstance(value, torch.nn.Module):
        for k, v in list(value._parameters.items()) + list(value._buffers.items()) + list(value._modules.items()):
            _walk(state, "%s.%s" % (name, k), v, depth if isinstance(v, torch.nn.Module) else depth + 1, seen)
        for k, v in list(vars(value).items()):
            if not k.startswith("_") and k != "forward":
                _walk(state, "%s.%s" % (name, k), v, depth + 1, seen)
        for v in list(vars(type(value)).values()):
            if isinstance(v, types.FunctionType) and v.__closure__ and not _is_torchs(value):
                _function(state, name, v, depth + 1, seen)
    elif hasattr(value, "__dict__") and not _is_torchs(value):
        for k, v in list(vars(value).items()):
            _walk(state, "%s.%s" % (name, k), v, depth + 1, seen)
        for k, v in list(vars(type(value)).items()):  # what its methods capture
            if isinstance(v, types.FunctionType) and v.__closure__:
                _function(state, name, v, depth + 1, seen)


def _holds(values):
    """Is something in it that a repr would not show in full?"""
    values = values.values() if isinstance(values, dict) else values
    return any(not (v is None or isinstance(v, (bool, int, float, str))) for v in values)


def _function(state, name, f, depth, seen):
    owner = getattr(f, "__self__", None)
    if owner is not None:
        _walk(state, "self", owner, depth, seen)
    f = getattr(f, "__func__", f)
    code = getattr(f, "__code__", None)
    if code is None:
        return
    for k, cell in zip(code.co_freevars, f.__closure__ or ()):
        try:
            _walk(state, k, cell.cell_contents, depth + 1, seen)
        except ValueError:  # empty
            pass
    named, codes = set(), [code]
    while codes:
        code = codes.pop()
        named.update(code.co_names)
        codes += [c for c in code.co_consts if hasattr(c, "co_names")]
    for k in sorted(named):
        if k in f.__globals__ and not k.startswith("__"):
            _walk(state, k, f.__globals__[k], depth + 1, seen)


def _tell(what):
    import json

    fd = os.open(os.environ["PT2_STATE_REPORT"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.write(fd, (json.dumps(what) + "\n").encode())
    os.close(fd)


def _record(fn, args, kwargs, result):
    global _calls
    _calls += 1
    if _calls > CALLS:
        return
    import torch

    f = fn.forward if isinstance(fn, torch.nn.Module) else fn
    f = getattr(f, "_pt2_of", f)
    if getattr(f, "__name__", "") == "_call_impl" and isinstance(getattr(f, "__self__", None), torch.nn.Module):
        f = type(f.__self__).forward.__get__(f.__self__)  # Module.compile()
    code = getattr(getattr(f, "__func__", f), "__code__", None)
    state, seen = {}, set()
    with torch.no_grad():
        _walk(state, "the result", result, 0, seen)
        names = code.co_varnames[getattr(f, "__self__", None) is not None : code.co_argcount] if code else ()
        for i, a in enumerate(args):
            _walk(state, names[i] if i < len(names) else "argument %d" % i, a, 1, seen)
        for k, a in kwargs.items():
            _walk(state, k, a, 1, seen)
        if isinstance(fn, torch.nn.Module):
            _walk(state, "self", fn, 0, seen)
        _function(state, "", f, 0, seen)
    _tell({"call": _calls, "function": getattr(code, "co_qualname", getattr(code, "co_name", "")), "file": getattr(code, "co_filename", ""),
           "line": getattr(code, "co_firstlineno", 0), "state": state})


def _watch(fn, out):
    import functools

    import torch

    module = isinstance(out, torch.nn.Module)
    call = out.forward if module else out

    def watched(*args, **kwargs):
        global _depth
        if torch.compiler.is_compiling():
            return call(*args, **kwargs)
        _depth += 1
        try:
            result = call(*args, **kwargs)
        finally:
            _depth -= 1
        if _depth == 0:
            _record(fn, args, kwargs, result)
        return result

    try:
        functools.update_wrapper(watched, call)
    except Exception:
        pass
    watched._pt2_of = getattr(call, "_pt2_of", type(fn).forward.__get__(fn) if isinstance(fn, torch.nn.Module) else fn)
    if not module:
        return watched
    out.forward = watched
    return out


class _Optimize:
    """What torch._dynamo.optimize() returns: called with the function, or entered."""

    def __init__(self, wrapped):
        self.__dict__["_wrapped"] = wrapped

    def __call__(self, fn):
        out = self._wrapped(fn)
        try:
            return _watch(fn, out)
        except Exception:
            return out

    def __getattr__(self, name):
        return getattr(self._wrapped, name)

    def __setattr__(self, name, value):
        setattr(self._wrapped, name, value)

    def __enter__(self):
        return self._wrapped.__enter__()

    def __exit__(self, *how):
        return self._wrapped.__exit__(*how)


def _state_dynamo(module):
    backend, original = os.environ.get("PT2_STATE_BACKEND"), module.optimize

    def optimize(*args, **kwargs):
        if backend and args:
            args = (backend,) + args[1:]
        elif backend:
            kwargs["backend"] = backend
        return _Optimize(original(*args, **kwargs))

    module.optimize = optimize


if os.environ.get("PT2_STATE_REPORT"):
    sys.meta_path.insert(0, _AfterImport({"torch._dynamo": _state_dynamo}))  # noqa: F821
_next_sitecustomize()  # noqa: F821
