#!/usr/bin/env python3
"""run.py [--save DIR] [--json FILE] --python PYTHON... [--] [NUMBER...] : which releases have the bugs of share/known that have a program here?

A program is N.py, of pytorch#N. It defines f and args (and how, keywords of torch.compile): f is run eager and compiled, with equal copies of
args, and the results must be equal; or main(), which must not fail. Each PYTHON imports torch once, and each program runs in a fork of it.
A line per program, a column per release: "ok", the exception, "other numbers", "signal N" or "no end". --save keeps the full text of what failed.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 150  # seconds for one program


def copied(value):
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return type(value)(copied(v) for v in value) if isinstance(value, (list, tuple)) else value


def one(path):
    """Runs a program; raises what it raises."""
    import torch

    text = path.read_text()
    module = sys.modules["known"] = types.ModuleType("known")  # Dynamo imports it by its name
    names = vars(module)
    names["__file__"] = str(path)
    torch.manual_seed(0)
    exec(compile(text, str(path), "exec"), names)
    if "main" in names:
        names["main"]()
        return
    f, args = names["f"], names["args"]
    torch.manual_seed(1)
    eager = f(*copied(args))
    torch.manual_seed(1)
    compiled = torch.compile(f, **names.get("how", {}))(*copied(args))
    torch.testing.assert_close(compiled, eager, equal_nan=True, **names.get("close", {}))


def last_line(text):
    """The exception: the last line at the margin that looks like one."""
    found = [l for l in text.splitlines() if re.match(r"[\w.]+(Error|Exception|Failed|Exit|Symbol\w*|Unsupported|\w*Node)\b", l)]
    return found[-1] if found else text.strip().splitlines()[-1] if text.strip() else "no text"


def inside(paths):
    """In the Python under test: a JSON line per program."""
    import torch
    import torch._inductor.compile_fx  # what every child needs; no kernel runs before the fork

    print(json.dumps({"torch": torch.__version__.split("+")[0]}), flush=True)
    with tempfile.TemporaryDirectory() as folder:  # one cache: 2.9 and later compile the headers into it first
        for path in paths:
            pid = os.fork()
            if not pid:
                os.environ.update(TORCHINDUCTOR_CACHE_DIR=folder)
                out = os.open(folder + "/text", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
                os.dup2(out, 1)
                os.dup2(out, 2)
                import signal

                signal.alarm(LIMIT)
                code = 0
                try:
                    one(path)
                except BaseException:
                    traceback.print_exc()
                    code = 1
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
            status = os.waitpid(pid, 0)[1]
            text = Path(folder, "text").read_text(errors="replace")
            if os.WIFSIGNALED(status):
                outcome = "no end" if os.WTERMSIG(status) == 14 else f"signal {os.WTERMSIG(status)}"
            elif not os.WEXITSTATUS(status):
                outcome, text = "ok", ""
            elif "Tensor-likes are not" in text or "Scalars are not" in text or "other numbers" in text:
                outcome = "other numbers"
            else:
                outcome = last_line(text)
            print(json.dumps({"number": path.stem, "outcome": outcome, "text": text}), flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--python", nargs="+", default=[])
    a.add_argument("--save", type=Path)
    a.add_argument("--json", type=Path)
    a.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a.add_argument("number", nargs="*")
    a = a.parse_args()
    paths = [HERE / f"{n}.py" for n in a.number] or sorted((p for p in HERE.glob("[0-9]*.py")), key=lambda p: int(p.stem))
    if a.inside:
        return inside(paths)
    table, releases = {}, []
    for python in a.python:
        env = dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS="1", CUDA_VISIBLE_DEVICES="", PYTHONWARNINGS="ignore")
        child = subprocess.Popen([python, __file__, "--inside", *[p.stem for p in paths]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        release = json.loads(child.stdout.readline())["torch"]
        releases.append(release)
        for line in child.stdout:
            row = json.loads(line)
            table.setdefault(row["number"], {})[release] = row["outcome"]
            print(f"{release} {row['number']}: {row['outcome'][:150]}", file=sys.stderr, flush=True)
            if a.save and row["text"]:
                a.save.mkdir(parents=True, exist_ok=True)
                (a.save / f"{row['number']}-{release}.txt").write_text(row["text"])
        child.wait()
    if a.json:
        old = json.loads(a.json.read_text()) if a.json.exists() else {}
        for n, row in table.items():
            old.setdefault(n, {}).update(row)
        a.json.write_text(json.dumps(old, indent=1, sort_keys=True))
    print("| bug |", " | ".join(releases), "|\n|---|" + "---|" * len(releases))
    for n in sorted(table, key=int):
        print(f"| {n} |", " | ".join(table[n].get(r, "")[:60].replace("|", "/") for r in releases), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
