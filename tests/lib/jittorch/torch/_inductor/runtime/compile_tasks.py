"""_reload_python_module as in torch 2.15."""
import sys
from types import ModuleType


def _reload_python_module(key, path, set_sys_modules=True):
    with open(path) as f:
        try:
            code = compile(f.read(), path, "exec", dont_inherit=True)
        except Exception as e:
            raise RuntimeError(f"Failed to import {path}\n{type(e).__name__}: {e}") from None
        mod = ModuleType(f"{__name__}.{key}")
        mod.__file__ = path
        mod.key = key
        exec(code, mod.__dict__, mod.__dict__)
        if set_sys_modules:
            sys.modules[mod.__name__] = mod
        return mod
