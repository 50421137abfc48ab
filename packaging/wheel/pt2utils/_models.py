"""Compiled models: what they expect, return and compute."""
from __future__ import annotations

import importlib
import os
import sys
import tempfile
from typing import Any, List, Mapping

from . import _tools
from .documents import ContractDocument, RunDocument, VerifyDocument


class Contract(ContractDocument):
    """What a compiled model expects, returns and does; of check() also `.fits` and `.findings`, all that does not fit."""

    def __str__(self) -> str:
        if self.fits is None and not self.given:
            return "%s: %d inputs, %d outputs" % (self.model, len(self.inputs), len(self.outputs))
        wrong = ["  input %s: %s: expected %s, got %s%s" % (f.input, f.what, f.expected, f.given, "; fix: %s" % f.fix if f.fix else "") for f in self.findings]
        return "\n".join(["%s: %s" % (self.model, "the inputs fit" if self.fits else "the inputs do not fit"), *wrong])


class Verification(VerifyDocument):
    """Which kernels compute what their graph says. `.status`: 0 all are right, 1 something is wrong (`.runs[0].findings`), 5 only partly verified."""


class Run(RunDocument):
    """What a model returned: statistics (`.outputs`) and `.values`, tensors where tensors were given, else numpy arrays; None where it returned None."""

    values: List[Any] = []


def contract(package: _tools.Path, *options: str) -> Contract:
    """What this compiled model expects, returns and does. options: of aoti-checkinputs, such as "--model=NAME"."""
    return Contract.of(_tools.run("aoti-checkinputs", *options, package))


def check(package: _tools.Path, inputs: Any, *options: str) -> Contract:
    """Do these inputs fit this compiled model? `.fits`, and in `.findings` all that does not.

    inputs: one or several of: a tensor or array, a file (.npy .npz .safetensors .pt), a spec ("f32[8,10]"); or a dict of arrays by forward()'s names.
    """
    with _Inputs(inputs) as given:
        return Contract.of(_tools.run("aoti-checkinputs", *options, package, *given.args))


def verify(graph: _tools.Path, package: _tools.Path, inputs: Any = (), *options: str) -> Verification:
    """Which kernels of this compiled package compute something else than the exported program `graph`? inputs as in check(); none: generated ones."""
    with _Inputs(inputs) as given:
        return Verification.of(_tools.run("aoti-verify", *options, graph, package, *given.args))


def run_model(package: _tools.Path, inputs: Any = (), *options: str) -> Run:
    """Runs a compiled model or an exported program on these inputs (as in check()), confined and without torch: `.values` is what it returned."""
    with _Inputs(inputs) as given:
        out = os.path.join(given.folder, "out.pt" if given.tensors else "out.npz")
        found = Run.of(_tools.run("pt2-run", *options, "-o", out, package, *given.args))
        object.__setattr__(found, "values", given.outputs(out, [o.name or "" for o in found.outputs]))
        return found


class _Inputs:
    """Inputs as arguments of a tool: tensors and arrays as files in a folder that is removed at the end."""

    def __init__(self, inputs: Any) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="pt2utils-inputs-")
        self.folder, self.tensors = self._temporary.name, False
        self.args: List[str] = []
        if isinstance(inputs, Mapping):
            self.args.append(self._named(inputs))
            return
        for value in inputs if isinstance(inputs, (list, tuple)) else [inputs]:
            self.args.append(os.fspath(value) if isinstance(value, (str, os.PathLike)) else self._file(value))

    def __enter__(self) -> _Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def _file(self, value: Any) -> str:
        torch: Any = sys.modules.get("torch")
        numpy: Any = sys.modules.get("numpy")  # of a tensor or array its module is there
        name = os.path.join(self.folder, "in%d" % len(self.args))
        if torch is not None and isinstance(value, torch.Tensor):
            self.tensors = True
            torch.save(value.detach(), name + ".pt")
            return name + ".pt"
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            numpy.save(name + ".npy", numpy.asarray(value))
            return name + ".npy"
        raise TypeError("an input is a tensor, an array, a file or a spec, not %s" % type(value).__name__)

    def _named(self, inputs: Mapping[str, Any]) -> str:
        numpy: Any = importlib.import_module("numpy")
        torch: Any = sys.modules.get("torch")
        self.tensors = torch is not None and any(isinstance(v, torch.Tensor) for v in inputs.values())
        arrays = {name: v.detach().cpu().numpy() if torch is not None and isinstance(v, torch.Tensor) else numpy.asarray(v) for name, v in inputs.items()}
        name = os.path.join(self.folder, "inputs.npz")
        numpy.savez(name, **arrays)
        return name

    def outputs(self, out: str, names: List[str]) -> List[Any]:
        """What pt2-run saved, by the names of the outputs; None where one is None or a str."""
        if self.tensors:
            found: Any = importlib.import_module("torch").load(out, weights_only=True)
            if isinstance(found, dict):
                return [found.get(name) for name in names]
            return list(found) if isinstance(found, (list, tuple)) else [found]
        numpy: Any = importlib.import_module("numpy")
        with numpy.load(out) as arrays:
            return [arrays[name] if name in arrays.files else None for name in names]
