"""AOTInductor packages: packages.py SCENE...

    run:NAME:good|bad     loads and runs a recorded package, prints its outputs' sizes, sum and NaN; keeps its inputs as NAME.good.pt, NAME.bad.pt
    side:NAME:good|bad    the same on a stream of its own, behind a kernel that takes 50 ms and then makes the inputs
    make:NAME             compiles NAME here, which a run prefers from then on. A minute of C++: no check does it

    dynamic   pointwise and a reduction, any number of rows
    linear    operators of cuBLAS between kernels
    user      a Triton kernel of the user's; with 1000 rows it writes far outside of its tensor
    nan       a logarithm in a fused kernel, of something negative with the bad inputs
    streams   two branches, one on a stream of its own (torch 2.15)
    pdl       dynamic, each kernel launched by cuLaunchKernelEx (torch 2.15)

Recorded ones (scripts/fixtures/cuda_packages.py) are for sm_90; an older torch than the one that made them loads those of 2.13. Inputs and packages are
beside the cache of Inductor, which all checks share."""
import contextlib
import importlib.util
import lzma
import os
import re
import sys

import torch

import gpu

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")  # a kit, or the source tree
FOLDER = os.path.join(os.path.dirname(os.environ.get("TORCHINDUCTOR_CACHE_DIR", os.path.abspath("inductor"))), "packages")
VERSION = tuple(int(n) for n in re.findall(r"\d+", torch.__version__)[:2])
INPUTS = {  # sizes and factor of good inputs, of bad ones
    "dynamic": ([(32, 64), (32, 64)], 1, None, 0),
    "linear": ([(4, 16)], 1, None, 0),
    "user": ([(32, 16)], 1, [(1000, 16)], 1),
    "nan": ([(32, 64)], 12, [(32, 64)], 1),
    "streams": ([(32, 64)], 1, None, 0),
    "pdl": ([(32, 64), (32, 64)], 1, None, 0),
}
SINCE = {"streams": (2, 15), "pdl": (2, 15)}


def kept(path, write):
    """The file, whole for whoever else looks: write(PATH) makes it, if there is none."""
    if not os.path.exists(path):
        os.makedirs(FOLDER, exist_ok=True)
        temporary = f"{path}.{os.getpid()}"
        write(temporary)
        os.replace(temporary, path)
    return path


def package(name):
    made, recorded = os.path.join(FOLDER, name + ".made.pt2"), os.path.join(ROOT, "packages", name + ".pt2")
    for path in made, recorded:
        if os.path.exists(path):
            return path

    def unpack(path):
        folder = os.path.join(ROOT, "tests/data/aoti/cuda", "v215" if name in SINCE else "")
        with lzma.open(os.path.join(folder, name + ".pt2.xz")) as f, open(path, "wb") as g:
            g.write(f.read())
    return kept(os.path.join(FOLDER, name + ".pt2"), unpack)


def inputs(name, which):
    good, factor, bad, bad_factor = INPUTS[name]
    sizes, factor = (good, factor) if which == "good" else (bad, bad_factor)
    g = torch.Generator().manual_seed(0)
    given = [(torch.rand(s, generator=g) + 0.5) * factor for s in sizes]
    kept(os.path.join(FOLDER, f"{name}.{which}.pt"), lambda path: torch.save(given, path))
    return given


def loaded(name):
    """What C++ programs have: aoti_load_package() compiles a test for each instruction set first (torch 2.11), a minute on a cold machine. None where
    this torch cannot have it."""
    if VERSION < SINCE.get(name, (0,)):
        print(f"{name}: not of torch {torch.__version__}", flush=True)
        return None
    return torch._C._aoti.AOTIModelPackageLoader(package(name), "model", False, 1, -1)


def told(name, out):
    print(f"{name}: {[tuple(t.shape) for t in out]} sum {sum(gpu.total(t) for t in out):.6g} nan {sum(int(t.isnan().sum()) for t in out)}", flush=True)


def run(name, which):
    model = loaded(name)
    if model:
        told(name, model.run([t.to(gpu.device) for t in inputs(name, which)]))


def side(name, which):
    model, given = loaded(name), [t.to(gpu.device) for t in inputs(name, which)]
    later = [torch.full_like(t, float("nan")) for t in given]
    gpu.wait()
    with gpu.side_stream()[1] if gpu.cuda else contextlib.nullcontext():
        gpu.sleep(50)
        for to, t in zip(later, given):
            to.copy_(t)
        out = model.run(later)
    told(name, out)


def make(name):
    fixtures = os.path.join(ROOT, "scripts/fixtures")
    sys.path.insert(0, fixtures)
    if not importlib.util.find_spec("cuda_packages"):
        print(f"{name}: {fixtures} is not there: run this from the source tree")
        return
    import cuda_packages

    torch.manual_seed(0)
    module, _, shapes, options = cuda_packages.MODELS[name]()
    module, given = module.to(gpu.device).eval().requires_grad_(False), tuple(t.to(gpu.device) for t in inputs(name, "good"))
    with torch.no_grad():
        want = module(*given)
        with torch.fx.traceback.preserve_node_meta():  # which stream
            program = torch.export.export(module, given, dynamic_shapes=shapes, strict=False)
        path = os.path.join(FOLDER, name + ".made.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=path + ".tmp.pt2", inductor_configs=options)
        got = torch._inductor.aoti_load_package(path + ".tmp.pt2")(*given)
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    os.replace(path + ".tmp.pt2", path)
    print(f"{name}: compiled", flush=True)


if __name__ == "__main__":
    gpu.play(globals())
