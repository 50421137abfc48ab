"""pt2utils: tools for people whose torch.compile or AOTInductor program is broken, wrong or slow.

    >>> import pt2utils
    >>> with pt2utils.watch() as w:                  # what torch.compile does in this block
    ...     step(batch)
    >>> w.summary.graph_breaks, [f.title for f in w.findings]
    >>> pt2utils.explain(model, batch)               # like torch._dynamo.explain, with causes and fixes
    >>> pt2utils.load("trace.log")                   # of a log that TORCH_TRACE wrote
    >>> pt2utils.contract("model.pt2").inputs        # what a compiled model expects
    >>> pt2utils.check("model.pt2", batch).fits
    >>> pt2utils.run_model("model.pt2", batch).values
    >>> pt2utils.verify("exported.pt2", "model.pt2", batch).status

Answers are dataclasses (pt2utils.documents); `.raw` is the JSON that the tool wrote. In a notebook, findings show themselves. save_repro() is
called inside a program, where it fails: it writes what fxminify needs. Importing pt2utils imports neither torch nor numpy.

The tools are programs, installed beside python: `tlparse -h` (pt2-tlparse in the wheel, as the Rust tlparse is a
program of that name), `man fxexplain`. tools() finds them, run() returns what one writes:

    >>> sorted(pt2utils.tools())
    ['aoti-checkinputs', ..., 'fxexplain', 'fxminify', 'pt2', 'pt2-run', 'pt2-tlparse']
    >>> pt2utils.run("fxexplain", "trace.log")["summary"]

`python -m pt2utils` lists the tools, `python -m pt2utils TOOL ...` runs one. `@pytest.mark.pt2(graph_breaks=0)` limits what a test
compiles (docs/user/PYTHON.md).
"""
from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, List

from ._tools import HERE, Error, Path, path, run, tools

if TYPE_CHECKING:
    from . import documents
    from ._explanation import Explanation, load
    from ._models import Contract, Run, Verification, check, contract, run_model, verify
    from ._watch import Watch, explain, watch

__all__ = ["Contract", "Error", "Explanation", "Run", "Verification", "Watch", "check", "contract", "documents", "explain", "load", "path", "run", "run_model",
           "save_repro", "tools", "verify", "watch"]
# Imported when they are used: pytest imports this package in every run of it.
_WHERE = {"Explanation": "_explanation", "load": "_explanation", "Contract": "_models", "Run": "_models", "Verification": "_models", "check": "_models",
          "contract": "_models", "run_model": "_models", "verify": "_models", "Watch": "_watch", "explain": "_watch", "watch": "_watch"}


if not TYPE_CHECKING:  # else any name would be right

    def __getattr__(name: str) -> Any:
        if name == "documents":
            return importlib.import_module("pt2utils.documents")
        if name in _WHERE:
            return getattr(importlib.import_module("pt2utils." + _WHERE[name]), name)
        raise AttributeError("module 'pt2utils' has no attribute '%s'" % name)


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


def save_repro(fn: Any, *args: Any, path: Path = "minifier_launcher.py", accuracy: bool = False, **kwargs: Any) -> List[str]:
    """Writes the graphs of this call as programs with their real inputs, to be reduced by `fxminify PATH`; returns their paths.

        for step, batch in enumerate(data):
            loss = compiled(batch)
            if not torch.isfinite(loss):
                print(pt2utils.save_repro(compiled, batch, accuracy=True))

    Storages go into checkpoints/ beside PATH. fn, compiled or not, runs once more, in eager, on copies of its arguments (a module's state is put
    back). accuracy: what is wrong are numbers, not an error.
    """
    import importlib.util

    for where in (os.path.join(HERE, "_catch.py"), os.path.join(HERE, "..", "..", "..", "share", "fxminify", "catch.py")):
        spec = importlib.util.spec_from_file_location("pt2utils._catch", where) if os.path.exists(where) else None
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            saved: List[str] = module.save_repro(fn, args, kwargs, path, accuracy)
            return saved
    raise Error(4, "pt2utils is incomplete: _catch.py is missing")
