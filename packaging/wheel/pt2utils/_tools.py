"""Finds the tools and runs them."""
from __future__ import annotations

import csv
import importlib.metadata
import json
import os
import shutil
import subprocess
from typing import Any, Dict, Union

HERE = os.path.dirname(os.path.abspath(__file__))
Path = Union[str, "os.PathLike[str]"]


class Error(Exception):
    """A tool has no document to give. .status: 2 usage, 3 input, 4 environment; .message: what the tool wrote."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or "status %d" % status)
        self.status, self.message = status, message


def tools() -> Dict[str, str]:
    """Names of the tools and where they are: those of the installed package, else those beside it (pip install --target) or on PATH."""
    try:
        package = importlib.metadata.distribution("pt2utils")
        # Its .files, from Python 3.12 on, leaves out what does not lie where RECORD says.
        files = [row[0] for row in csv.reader((package.read_text("RECORD") or "").splitlines()) if row]
        programs = [os.fspath(package.locate_file(f)) for f in files if os.path.basename(os.path.dirname(f)) == "bin"]  # type: ignore[call-overload,unused-ignore]
        names = [os.path.basename(p) for p in programs if os.path.basename(p) != "pt2utils"]
    except importlib.metadata.PackageNotFoundError:  # the sources, and programs that were installed from them
        programs, cmd = [], os.path.join(HERE, "..", "..", "..", "cmd")
        names = os.listdir(cmd) if os.path.isdir(cmd) else []
    found = {os.path.basename(p): os.path.realpath(p) for p in programs if os.path.basename(p) in names and os.path.exists(p)}
    if not found:
        where = os.pathsep.join((os.path.join(os.path.dirname(HERE), "bin"), os.environ.get("PATH", os.defpath)))
        found = {name: path for name in names for path in [shutil.which(name, path=where)] if path}
    return found


def path(tool: str) -> str:
    """Where this tool is, under its name or as pt2-TOOL."""
    found = tools()
    for name in (tool, "pt2-" + tool):
        if name in found:
            return found[name]
    raise Error(4, "pt2utils has no tool '%s' here: %s" % (tool, ", ".join(sorted(found)) or "none is on PATH"))


def run(tool: str, *args: Path, **how: Any) -> Dict[str, Any]:
    """The document that `TOOL --json ARGS...` writes, parsed; `how` goes to subprocess.run (input, cwd, env, timeout).

    A finding (status 1) and a partial answer (5) are documents like others; without one, Error.
    """
    return run_with_messages(tool, *args, **how)[0]


def run_with_messages(tool: str, *args: Path, **how: Any) -> "tuple[Dict[str, Any], int, str]":
    """The document, the exit status, and what the tool wrote to standard error."""
    done = subprocess.run([path(tool), "--json", *(os.fspath(a) for a in args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    said = done.stderr if isinstance(done.stderr, str) else done.stderr.decode("utf-8", "replace")
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise Error(done.returncode, said.strip()) from None
    return document, done.returncode, said.strip()
