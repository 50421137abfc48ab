"""repro.py DATA FOLDER: does torch see in the written programs what it sees in the recorded ones?

FOLDER/launcher/NAME and FOLDER/alone/NAME are what test_reprofile wrote for DATA/NAME. One line "differs: ..." for each thing that is not
as it was, "N programs" at the end. All in one process: importing torch takes longer than all of it.
"""
import argparse
import contextlib
import io
import logging
import os
import re
import runpy
import subprocess
import sys
import types

import torch
import torch._inductor.config
from torch._dynamo.debug_utils import InputReader
from torch._dynamo.repro import after_aot, after_dynamo, aoti
from torch._dynamo.testing import rand_strided  # noqa: F401  for the old forms

logging.disable(logging.WARNING)
data, folder = sys.argv[1:3]
differs = []


def check(what, good, *why):
    if not good:
        differs.append(what)
        print("differs:", what, *why)


def fake_triton():
    """Enough for a kernel to be defined: there is none on a machine without a GPU."""
    triton, language = types.ModuleType("triton"), types.ModuleType("triton.language")
    triton.jit = lambda f: f
    triton.autotune = lambda configs, key: lambda f: f
    triton.Config = lambda *a, **k: (a, k)
    triton.language = language
    language.constexpr = int
    return {"triton": triton, "triton.language": language}


class Ran(Exception):
    pass


def execute(path, before=None):
    """Run a program as __main__ up to its run_repro, which is not called. Returns its names and run_repro's arguments."""
    calls = []
    modules = fake_triton()

    def caught(*args, **kwargs):
        calls.append((args, kwargs))
        raise Ran

    kept = [(m, m.run_repro) for m in (after_aot, after_dynamo, aoti)]
    environ, argv = dict(os.environ), sys.argv
    try:
        for m, _ in kept:
            m.run_repro = caught
        sys.modules.update(modules)
        sys.argv = [path]
        source = open(path).read()
        if not torch.cuda.is_available():
            source = source.replace("type='cuda', index=0", "type='cpu'")
        names = {"__name__": "__main__", "__file__": path, **(before or {})}
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.suppress(Ran):
            exec(compile(source, path, "exec"), names)
        return names, calls, said.getvalue(), source
    finally:
        for m, f in kept:
            m.run_repro = f
        for name in modules:
            sys.modules.pop(name, None)
        sys.argv = argv
        os.environ.clear()
        os.environ.update(environ)
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def inputs(names, save_dir):
    reader = InputReader(save_dir=save_dir)
    with contextlib.redirect_stderr(io.StringIO()):
        names["load_args"](reader)
    return reader.args


def describe(x):
    if not isinstance(x, torch.Tensor):
        return type(x).__name__ if isinstance(x, torch.Generator) else repr(x)
    return (x.dtype, tuple(x.shape), x.stride(), x.storage_offset(), x.requires_grad, x.is_leaf, str(x.device), x.untyped_storage().nbytes())


def raw(x):
    return bytes(x.untyped_storage()) if isinstance(x, torch.Tensor) else x


def graph(names):
    """Its nodes as text; the types of parameters are not written again."""
    return re.sub(r" : [\w.]+", "", torch.fx.symbolic_trace(names["Repro"]()).code)


def class_alone(source):
    """The class of an old program, whose head torch 2.13 cannot import."""
    text = re.search(r"^class Repro.*?(?=^\S)", source[source.index("class Repro") :] + "\nx", re.S | re.M).group()
    names = {"torch": torch, "inf": float("inf"), "device": torch.device, "tensor": torch.tensor}
    exec("from torch.nn import *\n" + text, names)
    return names


def old_inputs(source):
    names = {"torch": torch, "rand_strided": rand_strided}
    for line in source.splitlines():
        if line.startswith("args"):
            exec(line, names)
    return names["args"]


def same_inputs(what, want, got, values):
    check(what + ": inputs", [describe(x) for x in want] == [describe(x) for x in got], [describe(x) for x in want], [describe(x) for x in got])
    if values and len(want) == len(got):
        check(what + ": values", all(raw(a) == raw(b) for a, b in zip(want, got) if isinstance(a, torch.Tensor)))


def one(name):
    path = os.path.join(data, name)
    old = "/old_" in name
    source = open(path).read()
    stored = "reader.storage('" in source and os.path.isdir(os.path.join(os.path.dirname(path), "storages"))
    if name == "minifier/aot_compile_error/repro.py":  # torch's minifier did not keep it; the run's own folder may still have it
        stored = os.path.isdir(re.search("save_dir='([^']*)'", source)[1])
    if old:
        want_graph, want = graph(class_alone(source)), old_inputs(source)
    else:
        names, calls, _, _ = execute(path, {"nan": float("nan")})
        want_graph, want = graph(names), inputs(names, calls[0][1]["save_dir"] if not os.path.isdir(os.path.dirname(path) + "/storages") else os.path.dirname(path))
    for style in ("launcher", "alone"):
        what = f"{style} {name}"
        ours = os.path.join(folder, style, name)
        names, calls, said, text = execute(ours)
        check(what + ": calls run_repro once", len(calls) == 1)
        check(what + ": graph", graph(names) == want_graph, graph(names), want_graph)
        save_dir = calls[0][1]["save_dir"]
        got = inputs(names, save_dir)
        same_inputs(what, want, got, stored)
        if style == "alone":
            again = inputs(names, save_dir)
            check(what + ": the same again", all(raw(a) == raw(b) for a, b in zip(got, again) if isinstance(a, torch.Tensor)))
            check(what + ": says that values are random", ("RANDOM" in said) != stored and ("RANDOM VALUES" in text) != stored, said)
            check(what + ": names no folder of this machine", "/tmp/" not in text)
    return calls[0], names, got


def get_args(name):
    """torch's own sub-command, which traces: with the inputs and settings of the foot."""
    codes = []
    for path in (os.path.join(data, name), os.path.join(folder, "launcher", name), os.path.join(folder, "alone", name)):
        names, calls, _, _ = execute(path, {"nan": float("nan")})
        (mod, load_args), kwargs = calls[0]
        argv, sys.argv = sys.argv, [path]
        with contextlib.redirect_stderr(io.StringIO()), torch.no_grad():
            gm, args = after_aot.run_repro(mod, load_args, **{**kwargs, "command": "get_args"})
        sys.argv = argv
        codes.append((gm.code, [describe(a) for a in args]))
    check(f"get_args {name}", codes[0] == codes[1] == codes[2], codes)


def exported(name):
    path = os.path.join(data, name)
    program = torch.export.load(os.path.join(os.path.dirname(path), "exported_program.pt2"))
    sample = program.example_inputs[0]
    flat = list(program.state_dict.values()) + list(sample)
    for style in ("launcher", "alone"):
        names, calls, said, _ = execute(os.path.join(folder, style, name))
        (ours,), kwargs = calls[0]
        args = ours.example_inputs[0]
        what = f"{style} {name}"
        check(what + ": inputs", len(args) == len(flat) and all(torch.equal(a, b) for a, b in zip(args, flat)))
        check(what + ": result", torch.equal(ours.module()(*args)[0], program.module()(*sample)))
        check(what + ": settings", kwargs["config_patches"] == {"aot_inductor.package": True} and kwargs["accuracy"] is False, kwargs)
        check(what + ": not random", "RANDOM" not in said, said)


def fails(name, want):
    """Run for real, as a user does: from another folder, without the folder it was recorded in."""
    path = os.path.abspath(os.path.join(folder, "alone", name))
    os.makedirs("elsewhere", exist_ok=True)
    environ = dict(os.environ, PYTHONPATH=os.path.abspath("."))
    p = subprocess.run([sys.executable, path], cwd="elsewhere", env=environ, capture_output=True, text=True)
    check(f"run {name}", p.returncode == (1 if want else 0) and want in p.stderr, p.returncode, p.stderr[-600:])


everything = sys.argv[3:]
for name in everything:
    if name == "repro/aoti/minifier_launcher.py":
        exported(name)
        continue
    call, names, got = one(name)
    if name == "repro/old_dynamo_2_0.py":
        import toys

        check(name + ": backend", call[1]["backend"] is toys.toy_compiler)
    if name == "repro/distributed.py":
        source = open(os.path.join(folder, "launcher", name)).read()
        check(name + ": groups", "setup_fake_process_groups({'0': {'size': 2" in source and source.rstrip().endswith("dist.destroy_process_group()"))
for name in ("minifier/aot_nan/minifier_launcher.py", "minifier/aot_dynamic/minifier_launcher.py", "repro/aot_strides/minifier_launcher.py"):
    get_args(name)
fails("minifier/aot_nan/minifier_launcher.py", "CppCompileError")
fails("repro/old_dynamo_2_0.py", "relu is not for toys")
fails("repro/aot_strides/minifier_launcher.py", "")
print(len(everything), "programs")
sys.exit(1 if differs else 0)
