"""The packages of check-gpu: models.py FOLDER [NAME...]. For each NAME: NAME.pt2, NAME.in.pt, NAME.bad.pt where it has inputs that
bring the planted fault out, and NAME.json (name of the kernel at fault, the inputs' sizes), written last: what has none is not whole.

    dynamic   pointwise and a reduction, any number of rows
    mm        an operator of cuBLAS between kernels
    user      a Triton kernel of the user's; with 1000 rows it writes far outside of its tensor
    nan       a logarithm in a fused kernel, of something negative with the bad inputs
    launches  48 small kernels one behind the other: time goes into launching
    streams   an operator on a stream of its own between kernels on the caller's (torch 2.15)
    pdl       dynamic, each kernel launched by cuLaunchKernelEx (torch 2.15)
"""
import json
import os
import sys

import torch
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


class Launches(torch.nn.Module):
    def forward(self, x):
        for i in range(48):
            x = x - x.sum(i % 2, keepdim=True) / 64  # over another dimension than the one before: no two become one kernel
        return x


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


def inputs(*sizes):
    g = torch.Generator().manual_seed(0)
    return [torch.rand(s, generator=g).cuda() + 0.5 for s in sizes]


ROWS = torch.export.Dim("rows", min=2, max=4096)
MODELS = {  # module, inputs, dynamic shapes, bad inputs, the kernel at fault, what is wrong
    "dynamic": (Dynamic, inputs((32, 64), (32, 64)), ({0: ROWS}, {0: ROWS}), None, None, None),
    "mm": (Mm, inputs((16, 64)), None, None, None, None),
    "user": (User, inputs((32, 16)), ({0: ROWS},), inputs((1000, 16)), "far_copy", "illegal"),
    "nan": (Nan, inputs((32, 64)), None, [-t for t in inputs((32, 64))], "log", "nan"),
    "launches": (Launches, inputs((64, 64)), None, None, None, None),
}
OPTIONS = {}
if tuple(int(n) for n in torch.__version__.split(".")[:2]) >= (2, 15):
    MODELS["streams"] = (Streams, inputs((256, 64)), None, None, None, None)
    MODELS["pdl"] = MODELS["dynamic"]
    OPTIONS["pdl"] = {"triton.enable_pdl": True}


def compile_one(folder, name):
    make, good, shapes, bad, kernel, fault = MODELS[name]
    path = os.path.join(folder, name)
    model = make().cuda().eval()
    with torch.no_grad():
        want = model(*good)
        with torch.fx.traceback.preserve_node_meta():  # which stream
            program = torch.export.export(model, tuple(good), dynamic_shapes=shapes, strict=False)
        torch._inductor.aoti_compile_and_package(program, package_path=path + ".pt2", inductor_configs=OPTIONS.get(name))
        got = torch._inductor.aoti_load_package(path + ".pt2")(*good)
    torch.cuda.synchronize()
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)
    torch.save([t.cpu() for t in good], path + ".in.pt")
    if bad:
        torch.save([t.cpu() for t in bad], path + ".bad.pt")
    facts = {"kernel": kernel, "fault": fault, "sizes": [list(t.shape) for t in good], "torch": torch.__version__,
             "gpu": torch.cuda.get_device_name(), "capability": torch.cuda.get_device_capability()}
    with open(path + ".json.tmp", "w") as f:
        json.dump(facts, f)
    os.rename(path + ".json.tmp", path + ".json")


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(MODELS)
    failed = 0
    for name in names:
        if name not in MODELS:
            print(f"{name}: not of torch {torch.__version__}")
            continue
        try:
            compile_one(folder, name)
            print(f"{name}: compiled")
        except Exception as e:  # the others can be tested all the same
            failed += 1
            print(f"{name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
