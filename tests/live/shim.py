"""Compiled models without torch, against torch: shim.py BUILD ZOO. Prints TAP.

Every package of the zoo and of tests/data is run by pt2-runner with libpt2shim.so. Dtypes, sizes, strides and integers must be
torch's; the largest error of a float output against a reference in double precision must be at most twice torch's own (and a few
units in the last place of the largest value).
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "scripts", "fixtures")]
warnings.filterwarnings("ignore")

import torch
import torch.utils._pytree as pytree

import packages

BUILD = sys.argv[1]
DATA = os.environ.get("DATA", os.path.join(BUILD, "data"))
RUNNER, SHIM = (os.path.join(BUILD, "lib", "pt2utils", n) for n in ("pt2-runner", "libpt2shim.so"))
LIBTORCH = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
# Numbers of libcommon/core/tensor/dtype.h, which are torch's.
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64, None,
          torch.complex64, torch.complex128, torch.bool, None, None, None, torch.bfloat16]
ULPS = 4  # of the largest value: for outputs that torch computes to the last bit
# What needs its own program, or an installed libtorch and a library of operators.
REFUSED = {"custom_op": "which are defined in Python", "custom_cpp": "does not have: pt2fix::mix, pt2fix::halves"}


def read_runfile(path):
    """libcommon/cli/watch/runfile.h: ([tensors], "") or ([], why not)."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    magic, n, status, at, length = struct.unpack_from("<8sIIQQ", data)
    assert magic == b"PT2RUN1\0", magic
    if status:
        return [], data[at : at + length].decode(errors="replace")
    out = []
    for i in range(n):
        start = 96 + i * 1072
        dtype, _, _, dims, _, _, at, length = struct.unpack_from("<iiiiQQQQ", data, start)
        if dtype < 0:
            out.append(None)
            continue
        size, stride = (struct.unpack_from(f"<{dims}q", data, start + o) for o in (48, 560))
        raw = torch.frombuffer(data, dtype=torch.uint8, offset=at, count=length) if length else torch.empty(0, dtype=torch.uint8)
        out.append(torch.as_strided(raw.clone().view(DTYPES[dtype]), size, stride))
    return out, ""


def unpack(package, model, folder):
    """The files of one model beside each other: (library, blob or None, extern nodes or None)."""
    if not zipfile.is_zipfile(package):
        return shutil.copy(package, folder), None, None
    with zipfile.ZipFile(package) as z:
        for name in z.namelist():
            if f"/{model}/" in name or not model:
                with open(os.path.join(folder, os.path.basename(name)), "wb") as f:
                    f.write(z.read(name))
    beside = [next(iter(glob.glob(f"{folder}/*{end}")), None) for end in ("_weights.blob", ".wrapper.json")]
    return glob.glob(f"{folder}/*.so")[0], *beside


def run(package, inputs, model="", runtime=SHIM, more=()):
    with tempfile.TemporaryDirectory() as folder:
        library, blob, nodes = unpack(package, model, folder)
        torch.save(inputs, f"{folder}/inputs.pt")
        command = [RUNNER, "--quiet", "--torch", runtime, "--own-copy", "--model", library]
        command += ["--inputs", f"{folder}/inputs.pt", "--outputs", f"{folder}/out"]
        command += ["--blob", blob] if blob else []
        command += ["--extern-nodes", nodes] if nodes else []
        command += more
        child = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if child.returncode < 0:
            return [], f"died of signal {-child.returncode}"
        try:
            return read_runfile(f"{folder}/out")
        except (OSError, struct.error, AssertionError) as e:
            return [], f"status {child.returncode}, no outputs: {e} {child.stderr[-300:]}"


def error(x, reference, where):
    return (x.to(reference.dtype) - reference)[where].abs().max().item() if where.any() else 0.0


def compare_floats(ours, want, reference):
    finite = torch.isfinite(want)
    if not torch.equal(torch.isfinite(ours), finite) or not torch.allclose(ours[~finite], want[~finite], equal_nan=True):
        return "NaN or infinity in other places"
    where = finite & torch.isfinite(reference)  # half precision overflows where doubles do not
    mine, theirs = error(ours, reference, where), error(want, reference, where)
    scale = reference[where].abs().max().item() if where.any() else 0.0
    floor = ULPS * torch.finfo(want.dtype).eps * scale
    if mine <= 2 * theirs + floor:
        return ""
    return f"error {mine:.3g} against a double reference, torch's is {theirs:.3g}, the largest value {scale:.3g}"


def compare(i, ours, want, reference, tied, outputs, inputs):
    for what in ("dtype", "shape"):
        if getattr(ours, what) != getattr(want, what):
            return f"output {i}: {what} {getattr(ours, what)}, torch has {getattr(want, what)}"
    if ours.stride() != want.stride():
        return f"output {i}: strides {ours.stride()}, torch has {want.stride()}"
    if want.is_floating_point() or want.is_complex():
        wrong = compare_floats(ours, want, reference)
        return f"output {i}: {wrong}" if wrong else ""
    for index, keys, dim in tied:
        if index == i:
            rows = ours.movedim(dim, -1).flatten(0, -2).tolist()
            same = torch.equal(torch.gather(inputs[0], dim, ours), outputs[keys]) and all(len(set(row)) == len(row) for row in rows)
            return "" if same else f"output {i}: indices that are not of the keys in output {keys}"
    return "" if torch.equal(ours, want) else f"output {i}: {(ours != want).sum()} of {want.numel()} integers differ"


tests = failed = 0


def report(what, why):
    global tests, failed
    tests += 1
    failed += bool(why)
    print(f"{'not ' if why else ''}ok {tests} - {what}")
    if why:
        print("#  ", why)


def check(what, got, inputs, outputs, references, tied=()):
    ours, why = got
    if not why and len(ours) != len(outputs):
        why = f"{len(ours)} outputs, torch has {len(outputs)}"
    if not why:
        triples = enumerate(zip(ours, outputs, references, strict=True))
        why = "; ".join(filter(None, (compare(i, *triple, tied, ours, inputs) for i, triple in triples)))
    report(what, why)


def wide(x):
    if not isinstance(x, torch.Tensor):
        return x
    return x.to(torch.complex128) if x.is_complex() else x.double() if x.is_floating_point() else x


def tensors(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]


def zoo(folder):
    for path in sorted(glob.glob(f"{folder}/*.json")):
        with open(path) as f:
            facts = json.load(f)
        load = lambda kind: torch.load(f"{folder}/{facts['name']}.{kind}.pt")
        inputs = load("in")
        check(facts["name"], run(f"{folder}/{facts['name']}.pt2", inputs), inputs, load("out"), load("ref"), facts["tied"])


def recorded_reference(name):
    """What the module of a recorded package returns in double precision."""
    torch.manual_seed(0)
    module, inputs, _, _, *kwargs = packages.MODELS[name]()
    with torch.no_grad():
        return tensors(module.eval().double()(*pytree.tree_map(wide, inputs), **pytree.tree_map(wide, kwargs[0] if kwargs else {})))


def recorded():
    io = os.path.join(ROOT, "tests", "data", "aoti", "io")
    pytree._register_namedtuple(packages.Size, serialized_type_name="pt2fix.Size")
    torch.export.register_dataclass(packages.Options, serialized_type_name="pt2fix.Options")
    for name in packages.MODELS:
        if name.startswith("nan_"):
            continue  # the zoo has them
        if not os.path.exists(f"{io}/{name}.pt"):
            continue  # recorded for its contract, text or kernels alone
        pair = torch.load(f"{io}/{name}.pt")
        got = run(f"{DATA}/aoti/{name}.pt2", pair["inputs"])
        if name in REFUSED:
            report(f"recorded {name} is refused", "" if REFUSED[name] in got[1] else got[1] or "it ran")
        else:
            check(f"recorded {name}", got, pair["inputs"], pair["outputs"], recorded_reference(name))
        if name in ("mlp", "conv", "proxied", "custom_cpp"):
            load = ["--load", os.path.join(BUILD, "tests-lib", "customop.so")] if name == "custom_cpp" else []
            same, why = run(f"{DATA}/aoti/{name}.pt2", pair["inputs"], runtime=LIBTORCH, more=load)
            if load:
                torch.ops.load_library(load[1])
            here = tensors(torch._inductor.aoti_load_package(f"{DATA}/aoti/{name}.pt2")(*pair["inputs"])) # what MKL gives is each processor's own
            report(f"recorded {name} with libtorch: bit for bit", why or ("" if all(map(torch.equal, same, here)) else "differs"))
    x, y = (torch.load(f"{io}/multi_second.pt")["inputs"])
    for model, inputs, want in (("first", [x], torch.sin(x.double()) + 1), ("second", [x, y], torch.cos(x.double()) * y.double())):
        check(f"recorded multi, {model}", run(f"{DATA}/aoti/multi.pt2", inputs, model), inputs, torch.load(f"{io}/multi_{model}.pt")["outputs"], [want])
    library = glob.glob(f"{DATA}/aoti/old/*.so")[0]
    pair = torch.load(f"{io}/mlp.pt")
    check("recorded bare library", run(library, pair["inputs"]), pair["inputs"], pair["outputs"], recorded_reference("mlp"))


os.environ["OMP_NUM_THREADS"] = "1"
recorded()
zoo(sys.argv[2])
print(f"# {tests - failed} of {tests}")
sys.exit(1 if failed else 0)
