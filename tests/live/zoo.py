"""Compiled models for the live tests, made once: zoo.py DIR [NAME...]. README.md of this folder tells what lies in DIR.

    zoo.py --list             the names
    zoo.py DIR                compile what is not there, or has changed since
    zoo.py DIR NAME...        only these
"""
import fcntl
import hashlib
import inspect
import json
import os
import re
import stat
import sys
import time
import zipfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "scripts", "fixtures")]


def compiler(folder):
    """A g++ without line information, which is two thirds of a package, and PyTorch always asks for."""
    path = os.path.join(folder, "g++")
    with open(path, "w") as f:
        f.write('#!/bin/bash\nexec /usr/bin/g++ "${@/#-g1/-g0}"\n')
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


if __name__ == "__main__" and sys.argv[1:2] != ["--list"]:
    # Read by PyTorch when it is imported.
    FOLDER = os.path.realpath(sys.argv[1])
    os.makedirs(os.path.join(FOLDER, "tmp"), exist_ok=True)
    os.environ |= {
        "CXX": compiler(os.path.join(FOLDER, "tmp")),
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(FOLDER, "tmp", "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }

import torch
import torch.utils._pytree as pytree

import packages
import planted
import zoo_models


def names():
    """Both kinds by turns, so that the first ones are of use while the others are still compiled."""
    a, b = list(zoo_models.ZOO), [f"nan_{n}" for n in planted.PLANTED]
    both = [n for pair in zip(a, b) for n in pair]
    return both + a[len(b):] + b[len(a):]


def make(name):
    """(module, inputs, good inputs or None, dynamic shapes, options)"""
    torch.manual_seed(0)
    if name.startswith("nan_"):
        module, bad, good = planted.PLANTED[name[4:]]()
        return module.eval(), bad, good, None, {}
    module, inputs, *rest = zoo_models.ZOO[name]()
    return module.eval(), inputs, None, *(rest + [None, {}][len(rest):])


def key(name):
    """Changes with whatever the package depends on."""
    source = planted if name.startswith("nan_") else zoo_models
    return hashlib.sha256((torch.__version__ + own_source(source, name)).encode()).hexdigest()[:16]


def own_source(module, name):
    """The entry of a case in its table, and the classes and functions that it names, and those that they name."""
    text = inspect.getsource(module)
    table = module.PLANTED if module is planted else module.ZOO
    entry = name[4:] if module is planted else name
    line = re.search(rf'^    "{entry}": (.*?)(?=^    "|^}})', text, re.M | re.S)
    assert line and entry in table, name
    parts, seen = [line[0]], set()
    for part in parts:  # grows
        for word in re.findall(r"\b[A-Za-z_]\w*", part):
            thing = getattr(module, word, None)
            if word not in seen and getattr(thing, "__module__", None) == module.__name__ and callable(thing):
                seen.add(word)
                parts.append(inspect.getsource(thing))
    return "".join(parts)


def doubled(x):
    return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def tensors(tree):
    """Those of a tree, each with a storage of its own, strides kept."""
    return [t.detach().clone(memory_format=torch.preserve_format) for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def called_kernels(path):
    """The kernels and operators that the model calls, in the order of the text."""
    with zipfile.ZipFile(path) as z:
        text = z.read(next(n for n in z.namelist() if n.endswith("wrapper.cpp"))).decode()
    body = text[text.index("::run_impl("):]
    found = re.findall(r"\b(cpp_fused_\w+|aoti_torch_cpu_\w+|aoti_torch_proxy_executor_call_function)\s*\(", body)
    return list(dict.fromkeys(found))


# The operators that Inductor makes of those that the exported program has, where it calls them.
CALLED_AS = {"linear": "addmm|mm", "conv2d": "convolution", "matmul": "bmm|mm"}


def holders(kernels, node):
    """The kernels whose names hold the operator of a node."""
    op = node.target.__name__.split(".")[0]  # "log.default"
    called = f"aoti_torch_cpu_({CALLED_AS.get(op, re.escape(op))})(_out)?"
    return op, [k for k in kernels if (re.search(rf"_{re.escape(op)}_", k) if k.startswith("cpp_") else re.fullmatch(called, k))]


def run_reference(module, inputs):
    return tensors(module.double()(*pytree.tree_map(doubled, inputs)))


def planted_facts(program, bad, good, path):
    facts, kernels = {}, called_kernels(path)
    for kind, node in planted.first_bad(program, bad, good).items():
        op, holding = holders(kernels, node)
        assert holding, f"no kernel's name has {op}: {kernels}"
        facts[kind] = {"op": op, "node": node.name, "kernels": holding}
    return {"bad": facts, "calls": kernels}


def compile_case(folder, name):
    module, inputs, good, shapes, options = make(name)
    path = os.path.join(folder, name)
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(program, package_path=f"{path}.pt2", inductor_configs=packages.PORTABLE | options)
    given = tensors(inputs)
    model = torch._inductor.aoti_load_package(f"{path}.pt2")
    outputs = tensors(model(*inputs))
    # With what makes no NaN: beyond one, how the infinities cancel is open.
    torch.testing.assert_close(tensors(model(*(good or inputs))), tensors(module(*(good or inputs))), rtol=0.02, atol=0.02)
    facts = {"name": name, "key": key(name), "torch": torch.__version__, "tied": zoo_models.TIED.get(name, [])}
    if good:
        facts |= planted_facts(program, inputs, good, f"{path}.pt2")
        torch.save(tensors(good), f"{path}.good.pt")
    else:
        facts |= {"calls": called_kernels(f"{path}.pt2")}
    torch.save(given, f"{path}.in.pt")
    torch.save(outputs, f"{path}.out.pt")
    torch.save(run_reference(module, inputs), f"{path}.ref.pt")
    with open(f"{path}.json.new", "w") as f:
        json.dump(facts, f, indent=1)
    os.rename(f"{path}.json.new", f"{path}.json")


def is_there(folder, name):
    try:
        with open(os.path.join(folder, f"{name}.json")) as f:
            return json.load(f)["key"] == key(name)
    except (OSError, ValueError, KeyError):
        return False


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(names()))
        return 0
    bad = 0
    lock = open(os.path.join(FOLDER, "lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    for name in sys.argv[2:] or names():
        if is_there(FOLDER, name):
            continue
        start = time.monotonic()
        try:
            torch._dynamo.reset()
            with torch.no_grad():
                compile_case(FOLDER, name)
            print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
        except Exception as e:  # the others are still of use
            print(f"{name}: {type(e).__name__}: {str(e)[:2000]}", flush=True)
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
