"""What `fxexplain run --bisect` puts before a program, as sitecustomize: torch.compile with another backend, Inductor with other
settings, and a line of JSON for each replacement, so that "nothing was replaced" is never taken for "it works".

    PT2_BISECT_BACKEND   eager, aot_eager, ...: instead of the one the program asks for; empty: unchanged
    PT2_BISECT_SETTINGS  max_fusion_size=1;cpp.simdlen=1: attributes of torch._inductor.config
    PT2_BISECT_REPORT    where the lines go

All compilation of a program goes through torch._dynamo.optimize, torch.compile included (torch 2.0.0 to 2.13.0: torch/__init__.py), so
that is what is replaced, when torch._dynamo is imported. Modes and options belong to the replaced backend, and are dropped with it.
share/jit/after_import.py precedes this. Python 3.8 and newer."""
import os
import sys


def _say(**what):
    import json

    try:
        fd = os.open(os.environ["PT2_BISECT_REPORT"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(fd, (json.dumps(what) + "\n").encode())  # one write: several processes may be at it
        os.close(fd)
    except (OSError, KeyError):
        pass


def _name(backend):
    """The backend's name, as the program gave it to torch.compile."""
    name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None)
    return backend if isinstance(backend, str) else str(name or type(backend).__name__)


def _dynamo(module):
    backend, original, seen = os.environ.get("PT2_BISECT_BACKEND"), module.optimize, set()

    def optimize(*args, **kwargs):
        asked = args[0] if args else kwargs.get("backend", "inductor")
        if _name(asked) not in seen:
            seen.add(_name(asked))
            _say(replaced=_name(asked), by=backend or _name(asked))
        if backend and args:
            args = (backend,) + args[1:]
        elif backend:
            kwargs["backend"] = backend
        return original(*args, **kwargs)

    module.optimize = optimize


def _inductor_config(module):
    import ast

    for pair in filter(None, os.environ.get("PT2_BISECT_SETTINGS", "").split(";")):
        name, _, value = pair.partition("=")
        holder = module
        *path, last = name.split(".")
        for part in path:
            holder = getattr(holder, part, None)
        if holder is None or not hasattr(holder, last):
            _say(unknown=name)
            continue
        setattr(holder, last, ast.literal_eval(value))
        _say(set=name)


def _torch(module):
    _say(torch=str(getattr(module, "__version__", "?")))


if os.environ.get("PT2_BISECT_REPORT"):
    sys.meta_path.insert(0, _AfterImport({"torch": _torch, "torch._dynamo": _dynamo, "torch._inductor.config": _inductor_config}))  # noqa: F821
_next_sitecustomize()  # noqa: F821
