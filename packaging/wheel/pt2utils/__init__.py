"""pt2utils: tools for people whose torch.compile or AOTInductor program is broken, wrong or slow.

The tools are programs, installed beside python: `tlparse -h` (pt2-tlparse in the wheel, as the Rust tlparse is a
program of that name), `man fxexplain`. This module finds them and reads what they write:

    >>> import pt2utils
    >>> sorted(pt2utils.tools())
    ['aoti-checkinputs', ..., 'fxexplain', 'fxminify', 'pt2', 'pt2-run', 'pt2-tlparse']
    >>> pt2utils.run("fxexplain", "trace.log")["summary"]

save_repro() is called inside a program, where it fails: it writes what fxminify needs.

`python -m pt2utils` lists the tools, `python -m pt2utils TOOL ...` runs one.
"""
import csv
import importlib.metadata
import json
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
__all__ = ["Error", "run", "save_repro", "tools"]


class Error(Exception):
    """A tool that has no document to give: .status (2 usage, 3 input, 4 environment) and .message, what it said."""

    def __init__(self, status, message):
        super().__init__(message or "status %d" % status)
        self.status, self.message = status, message


def tools():
    """Names of the tools and where they are: those of the installed package, else those beside it (pip install --target) or on PATH."""
    try:
        package = importlib.metadata.distribution("pt2utils")
        # Its .files, from Python 3.12 on, leaves out what does not lie where RECORD says.
        files = [row[0] for row in csv.reader((package.read_text("RECORD") or "").splitlines()) if row]
        programs = [os.fspath(package.locate_file(f)) for f in files if os.path.basename(os.path.dirname(f)) == "bin"]
        names = [os.path.basename(p) for p in programs if os.path.basename(p) != "pt2utils"]
    except importlib.metadata.PackageNotFoundError:  # the sources, and programs that were installed from them
        programs, cmd = [], os.path.join(HERE, "..", "..", "..", "cmd")
        names = os.listdir(cmd) if os.path.isdir(cmd) else []
    found = {os.path.basename(p): os.path.realpath(p) for p in programs if os.path.basename(p) in names and os.path.exists(p)}
    if not found:
        where = os.pathsep.join((os.path.join(os.path.dirname(HERE), "bin"), os.environ.get("PATH", os.defpath)))
        found = {name: path for name in names for path in [shutil.which(name, path=where)] if path}
    return found


def path(tool):
    """Where this tool is, under its name or as pt2-TOOL."""
    found = tools()
    for name in (tool, "pt2-" + tool):
        if name in found:
            return found[name]
    raise Error(4, "pt2utils has no tool '%s' here: %s" % (tool, ", ".join(sorted(found)) or "none is on PATH"))


def run(tool, *args, **how):
    """The document that `TOOL --json ARGS...` writes, parsed; `how` goes to subprocess.run (input, cwd, env, timeout).

    A finding (status 1) and an answer in part (5) are documents like others; without one, Error.
    """
    done = subprocess.run([path(tool), "--json", *map(os.fspath, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    try:
        return json.loads(done.stdout)
    except ValueError:
        raise Error(done.returncode, done.stderr.decode("utf-8", "replace").strip()) from None


def save_repro(fn, *args, path="minifier_launcher.py", accuracy=False, **kwargs):
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
        if os.path.exists(where):
            spec = importlib.util.spec_from_file_location("pt2utils._catch", where)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module.save_repro(fn, args, kwargs, path, accuracy)
    raise Error(4, "pt2utils is incomplete: _catch.py is missing")
