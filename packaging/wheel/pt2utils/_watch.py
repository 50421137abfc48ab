"""What torch.compile does in a block of code: a trace of that block, by torch's own handler, and findings after it."""
from __future__ import annotations

import importlib
import os
import shutil
import tempfile
import traceback
from types import TracebackType
from typing import Any, Callable, List, Optional, Type

from . import _tools
from ._explanation import Explanation
from .documents import Finding, Summary


class Watch:
    """A trace of a block, and what fxexplain says of it.

        with pt2utils.watch() as w:
            step(batch)
        print(w)                 # findings, worst first
        w.summary.graph_breaks   # 2

    Only what is compiled in the block is in it: a function that was compiled before has nothing to show (torch._dynamo.reset() forgets it).
    Compilations of all threads of this process are seen, those of child processes are not. TORCH_TRACE, and watches around this one, go on.
    An exception leaves the block as it would without; the findings then say what failed. `.trace` is the folder with the log, removed with this object.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="pt2utils-watch-")
        self._handler: Any = None
        self._explanation: Optional[Explanation] = None
        self.exception: Optional[BaseException] = None

    @property
    def trace(self) -> str:
        """The folder with the log."""
        return self._folder.name

    def __enter__(self) -> Watch:
        if self._handler is not None:
            raise RuntimeError("this watch has started already")
        self._handler, self._explanation, self.exception = _handler(self.trace), None, None
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], exception: Optional[BaseException], tb: Optional[TracebackType]) -> None:
        handler, self._handler = self._handler, None
        _internals().trace_log.removeHandler(handler)
        handler.close()
        self.exception, self._explanation = exception, None
        if kind is not None and issubclass(kind, Exception):
            with open(os.path.join(self.trace, "exception.txt"), "w", encoding="utf-8", errors="replace") as f:
                traceback.print_exception(kind, exception, tb, file=f)

    def tool_args(self) -> List[str]:
        """The files of this watch, as inputs of fxexplain."""
        if self._handler is not None:
            self._handler.flush()
        names = sorted(os.listdir(self.trace), key=lambda n: n == "exception.txt")
        return [os.path.join(self.trace, n) for n in names]

    @property
    def explanation(self) -> Explanation:
        """What happened in the block; inside of it, what happened so far."""
        if self._explanation is not None:
            return self._explanation
        files = self.tool_args()
        if not files:
            raise _tools.Error(3, "watch() saw nothing yet: its block has not started")
        return self.explained(_tools.run("fxexplain", *files))

    def explained(self, document: Any) -> Explanation:
        """Takes a document of fxexplain as this watch's."""
        found = Explanation.of(document)
        object.__setattr__(found, "exception", self.exception)
        object.__setattr__(found, "watched", True)
        if self._handler is None:
            self._explanation = found
        return found

    @property
    def findings(self) -> List[Finding]:
        """Findings, worst first."""
        return self.explanation.findings

    @property
    def summary(self) -> Summary:
        """Counts: compiles, graph_breaks, recompiles, compile_seconds, ..."""
        return self.explanation.summary

    def save(self, folder: _tools.Path) -> str:
        """Copies the log into a folder, for every other tool here; returns that folder."""
        self.tool_args()
        return str(shutil.copytree(self.trace, folder, dirs_exist_ok=True))

    def __str__(self) -> str:
        return str(self.explanation)

    def _repr_html_(self) -> str:
        return self.explanation._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.explanation._repr_markdown_()


def watch() -> Watch:
    """`with pt2utils.watch() as w:` traces what torch.compile does in the block (see Watch). Error, where this torch cannot be traced."""
    return Watch()


def explain(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """What torch.compile makes of fn(*args, **kwargs): graphs, breaks with causes and fixes, what failed. Like torch._dynamo.explain.

    A compiled fn runs with its own backend, another one is only captured (backend="eager"). It runs once. Dynamo is reset before and after, so
    that functions which were compiled before are compiled again. What fn raises is in `.exception`, and explained.
    """
    torch: Any = importlib.import_module("torch")
    compiled = hasattr(fn, "_torchdynamo_orig_callable") or hasattr(fn, "_orig_mod")
    torch._dynamo.reset()
    w = Watch()
    try:
        with w:
            (fn if compiled else torch.compile(fn, backend="eager"))(*args, **kwargs)
    except Exception as e:
        if w.exception is None:  # not fn's
            raise e
    finally:
        torch._dynamo.reset()
    return w.explanation


def _internals() -> Any:
    torch: Any = importlib.import_module("torch")
    internal: Any = importlib.import_module("torch._logging._internal")
    structured: Any = importlib.import_module("torch._logging.structured")
    wanted = ("trace_log", "LazyTraceHandler", "TorchLogsFormatter")
    missing = [name for name in wanted if not hasattr(internal, name)] + [name for name in ("INTERN_TABLE",) if not hasattr(structured, name)]
    if missing:
        raise _tools.Error(4, "watch() cannot trace torch %s: it has no %s; set TORCH_TRACE=DIR before the program starts, and pt2utils.load(DIR)" % (
            torch.__version__, ", ".join(missing)))
    return internal


def _handler(folder: str) -> Any:
    """torch's handler for traces, writing into this folder, added to its log."""
    import logging

    torch: Any = importlib.import_module("torch")
    structured: Any = importlib.import_module("torch._logging.structured")
    internal = _internals()
    if not internal.trace_log.isEnabledFor(logging.DEBUG):
        raise _tools.Error(4, "watch() cannot trace: logging.disable() is in effect; call logging.disable(logging.NOTSET) before")
    handler = internal.LazyTraceHandler(folder)
    handler.setFormatter(internal.TorchLogsFormatter(trace=True))
    # torch writes each string once in a process, and refers to it by its number then: this log needs those that others got before. Its release
    # it writes only from 2.13 on, and not here.
    for text, number in sorted(structured.INTERN_TABLE.items(), key=lambda item: item[1]):
        _emit(internal, handler, {"str": [text, number]})
    _emit(internal, handler, {"artifact": {"name": "torch_version", "encoding": "json"}}, '{\n"pytorch_version": "%s"\n}' % torch.__version__)
    if not os.listdir(folder):
        raise _tools.Error(4, "watch() cannot trace torch %s: its trace handler wrote nothing to '%s'" % (torch.__version__, folder))
    internal.trace_log.addHandler(handler)
    return handler


def _emit(internal: Any, handler: Any, metadata: Any, payload: Optional[str] = None) -> None:
    """A record like those of trace_structured, for this handler alone."""
    import hashlib
    import logging

    if payload is not None:
        metadata["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    record = internal.trace_log.makeRecord(internal.trace_log.name, logging.DEBUG, __file__, 1, "", (), None, "watch",
                                           {"metadata": metadata, "payload": payload})
    if hasattr(handler, "_pending_log_version"):
        handler._pending_log_version = False
    handler.handle(record)
