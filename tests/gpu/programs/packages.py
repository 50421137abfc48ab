"""AOTInductor packages: packages.py SCENE...

    make:NAME             compiles NAME.pt2, with NAME.in.pt, NAME.bad.pt where there are inputs that bring its fault out, and NAME.json, written last
    run:NAME:good|bad     runs it, prints its outputs' sizes, sum and NaN
    side:NAME:good|bad    the same on a stream of its own, behind a kernel that takes 50 ms and then makes the inputs

    dynamic   pointwise and a reduction, any number of rows
    mm        an operator of cuBLAS between kernels
    user      a Triton kernel of the user's; with 1000 rows it writes far outside of its tensor
    nan       a logarithm in a fused kernel, of something negative with the bad inputs
    streams   an operator on a stream of its own between kernels on the caller's (torch 2.15)
    pdl       dynamic, each kernel launched by cuLaunchKernelEx (where Inductor has triton.enable_pdl)

They are beside the cache of Inductor, which all checks share."""
import contextlib
import json
import os
import re

import torch
import torch._inductor.config as inductor

import gpu

FOLDER = os.path.join(os.path.dirname(os.environ.get("TORCHINDUCTOR_CACHE_DIR", "./inductor")), "packages")
VERSION = tuple(int(n) for n in re.findall(r"\d+", torch.__version__)[:2])

try:
    import triton
    import triton.language as tl

    @triton.jit
    def far_copy(in_ptr, out_ptr, n, rows, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        x = tl.load(in_ptr + at, mask)
        far = (rows == 1000).to(tl.int64) * (1 << 36)
        tl.store(out_ptr + at + far, x, mask)

    @torch.library.triton_op("pt2utils_gpu::far_copy", mutates_args={})
    def far_copy_op(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        n = x.numel()
        torch.library.wrap_triton(far_copy)[((n + 255) // 256,)](x, out, n, x.size(0), BLOCK=256)
        return out
except ImportError:
    assert not gpu.cuda


class Dynamic(torch.nn.Module):
    def forward(self, x, y):
        return torch.softmax(torch.sigmoid(x) + y, 1).sum(0) * 2


class Mm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(64, 64) / 8)

    def forward(self, x):
        return torch.relu(torch.mm(torch.tanh(x), self.w)) + 1


class User(torch.nn.Module):
    def forward(self, x):
        return far_copy_op(torch.cos(x)) + 1


class Nan(torch.nn.Module):
    def forward(self, x):
        return (torch.log(x) * 2).sum(1) + 1


class Streams(torch.nn.Module):
    """Only the operator is on stream 1: torch 2.15 launches kernels of Triton on the caller's, whatever the program says."""

    def forward(self, x):
        a = torch.sigmoid(x)
        if not torch.compiler.is_exporting():
            return torch.tanh(a.t() @ a).sum(0) + a.sum(0)
        record, wait = torch.ops.streams.record_event, torch.ops.streams.wait_event
        record(0, 0)
        with torch.fx.traceback.annotate({"stream": 1}):
            wait(0, 1)
            b = a.t() @ a
            record(1, 1)
        c = a.sum(0)
        wait(1, 0)
        return torch.tanh(b).sum(0) + c


ROWS = torch.export.Dim("rows", min=2, max=4096)
MODELS = {  # module, sizes of inputs, dynamic shapes, sizes and factor of bad inputs, the kernel at fault
    "dynamic": (Dynamic, [(32, 64), (32, 64)], ({0: ROWS}, {0: ROWS}), None, None),
    "mm": (Mm, [(16, 64)], None, None, None),
    "user": (User, [(32, 16)], ({0: ROWS},), ([(1000, 16)], 1), "far_copy"),
    "nan": (Nan, [(32, 64)], None, ([(32, 64)], -1), "log"),
}
OPTIONS = {}
if VERSION >= (2, 15):
    MODELS["streams"] = (Streams, [(256, 64)], None, None, None)
if hasattr(inductor.triton, "enable_pdl"):
    MODELS["pdl"] = MODELS["dynamic"]
    OPTIONS["pdl"] = {"triton.enable_pdl": True}


def inputs(sizes, factor=1):
    g = torch.Generator().manual_seed(0)
    return [(torch.rand(s, generator=g) + 0.5) * factor for s in sizes]


def make(name):
    if name not in MODELS:
        print(f"{name}: not of torch {torch.__version__}")
        return
    module, sizes, shapes, bad, kernel = MODELS[name]
    path = os.path.join(FOLDER, name)
    os.makedirs(FOLDER, exist_ok=True)
    model = module().to(gpu.device).eval()
    good = [t.to(gpu.device) for t in inputs(sizes)]
    with torch.no_grad():
        want = model(*good)
        with torch.fx.traceback.preserve_node_meta():  # which stream
            program = torch.export.export(model, tuple(good), dynamic_shapes=shapes, strict=False)
        torch._inductor.aoti_compile_and_package(program, package_path=path + ".pt2", inductor_configs=OPTIONS.get(name))
        got = torch._inductor.aoti_load_package(path + ".pt2")(*good)
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    torch.save(inputs(sizes), path + ".in.pt")
    if bad:
        torch.save(inputs(*bad), path + ".bad.pt")
    with open(path + ".json.tmp", "w") as f:
        json.dump({"kernel": kernel, "sizes": sizes}, f)
    os.rename(path + ".json.tmp", path + ".json")
    print(f"{name}: compiled")


def told(name, out):
    print(f"{name}: {[tuple(t.shape) for t in out]} sum {sum(gpu.total(t) for t in out):.6g} nan {sum(int(t.isnan().sum()) for t in out)}", flush=True)


def loaded(name, which):
    path = os.path.join(FOLDER, name)
    return torch._inductor.aoti_load_package(path + ".pt2"), torch.load(path + (".in.pt" if which == "good" else ".bad.pt"))


def run(name, which):
    model, given = loaded(name, which)
    told(name, model.loader.run([t.to(gpu.device) for t in given]))


def side(name, which):
    model, given = loaded(name, which)
    given = [t.to(gpu.device) for t in given]
    later = [torch.full_like(t, float("nan")) for t in given]
    gpu.wait()
    stream, on_it = gpu.side_stream() if gpu.cuda else (None, contextlib.nullcontext())
    with on_it:
        gpu.sleep(50)
        for to, t in zip(later, given):
            to.copy_(t)
        out = model.loader.run(later)
    told(name, out)


if __name__ == "__main__":
    gpu.play(globals())
