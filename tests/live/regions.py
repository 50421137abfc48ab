"""What torch.export writes besides plain operators, against eager: regions.py BUILD

autocast: the policy of libcommon/core/aten/interp/autocast.c names the operators for which torch has registered a kernel, and casts as that
does. Regions, torch.vmap, tensor state: exported programs of many small models, run by pt2-run. Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
TESTS = 0
BAD = 0


def test(name, why):
    global TESTS, BAD
    TESTS += 1
    BAD += bool(why)
    print(f"{'not ' if why else ''}ok {TESTS} - {name}")
    if why:
        print("#  ", str(why)[:400])
    sys.stdout.flush()


def policies():
    """{gpu: {operator: policy}} of autocast.c, and those that torch composes of others."""
    text = open(os.path.join(HERE, "../../libcommon/core/aten/interp/autocast.c"), encoding="utf-8").read()
    for gpu, table in (("CPU", "on_cpu"), ("CUDA", "on_cuda")):
        rows, composed = {}, set()
        mine = re.search(table + r"\[\] = \{(.*?)\n\};", text, re.S)[1]
        on = False
        for line in mine.splitlines():
            if re.search(r"/\* [^*]*(precision|float32|widest)", line):
                on = False
            on |= "composed" in line
            if m := re.search(r'\{"([\w.]+)", \'(\w)\'\}', line):
                rows[m[1]] = m[2]
                if on:
                    composed.add(m[1])
        yield gpu, rows, composed


# Registered, but refused by torch (binary_cross_entropy is unsafe to autocast), or not in a graph.
NOT_HERE = {"CPU": set(), "CUDA": {"binary_cross_entropy", "cudnn_convolution", "cudnn_convolution_transpose"}}


class Module(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *a):
        return self.f(*a)


def outputs(x):
    return [t for t in torch.utils._pytree.tree_flatten(x)[0] if isinstance(t, torch.Tensor)]


def run(module, inputs):
    """Why pt2-run's outputs of the exported program are not eager's; None: they are."""
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        program = torch.export.export(module.eval(), inputs)
        torch.export.save(program, f"{folder}/m.pt2")
        torch.save(list(inputs), f"{folder}/in.pt")
        want = outputs(program.module()(*[x.clone() for x in inputs]))
        r = subprocess.run([f"{BUILD}/bin/pt2-run", "-q", f"{folder}/m.pt2", f"{folder}/in.pt", "-o", f"{folder}/out.pt"], capture_output=True, text=True)
        if r.returncode:
            return r.stderr
        got = [t for t in torch.load(f"{folder}/out.pt").values() if isinstance(t, torch.Tensor)]
        if len(got) != len(want):
            return f"{len(got)} outputs instead of {len(want)}"
        for i, (g, w) in enumerate(zip(got, want)):
            if g.shape != w.shape or g.dtype != w.dtype:
                return f"out{i}: {g.dtype}{list(g.shape)} instead of {w.dtype}{list(w.shape)}"
            room = 2e-2 if w.dtype in (torch.bfloat16, torch.float16) else 1e-4
            if not torch.allclose(g.double(), w.double(), room, room / 10, equal_nan=True):
                return f"out{i} differs by {(g.double() - w.double()).abs().max().item()}"


def in_autocast(f, **how):
    def g(*a):
        with torch.autocast("cpu", **how):
            return f(*a)
    return Module(g)


F = torch.nn.functional
X, W, V = torch.randn(4, 8), torch.randn(8, 8), torch.randn(8)
CASES = {
    "autocast: linear, gelu, layer_norm": (in_autocast(lambda x, w: F.layer_norm(F.gelu(F.linear(x, w)), (8,))), (X, W)),
    "autocast: fp16": (in_autocast(lambda x, w: x @ w, dtype=torch.float16), (X, W)),
    "autocast: off": (in_autocast(lambda x, w: x @ w + 1, enabled=False), (X, W)),
    "autocast: cat of two types": (in_autocast(lambda x, w: torch.cat([x @ w, x])), (X, W)),
    "autocast: losses are in float32": (in_autocast(lambda x, w: F.mse_loss(x @ w, x)), (X, W)),
    "autocast: convolution and pooling": (in_autocast(lambda x: F.max_pool2d(F.conv2d(x, x[:, :, :3, :3]), 2)), (torch.randn(2, 3, 9, 9),)),
    "autocast: attention": (in_autocast(lambda q: F.scaled_dot_product_attention(q, q, q)), (torch.randn(1, 2, 5, 8),)),
    "vmap: outer mask": (Module(lambda i: torch.vmap(torch.vmap(lambda q, k: (q >= k) & (q - k < 3), (None, 0)), (0, None))(i, i)), (torch.arange(6),)),
    "vmap: matmul lane by lane": (Module(lambda x, w: torch.vmap(lambda a: a @ w)(x)), (X, W)),
    "vmap: reductions and views": (Module(lambda x: torch.vmap(lambda a: (a.view(2, 4).sum(0) * a[:4]).flip(0))(x)), (X,)),
    "vmap: a number for each lane": (Module(lambda x: torch.vmap(lambda a: a.sum())(x)), (X,)),
    "no_grad": (Module(lambda x: torch.no_grad()(lambda y: y * 2)(x) + 1), (X,)),
    "dropout that does nothing": (torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5)), (X,)),
}


def of_torchvision():
    """Its operators, where it is installed."""
    try:
        from torchvision import ops
    except Exception:  # noqa: BLE001
        return {}
    x, box = torch.randn(2, 8, 12, 14), torch.rand(6, 4) * 6
    box[:, 2:] += box[:, :2] + 1
    rois, w = torch.cat([torch.randint(0, 2, (6, 1)).float(), box], 1), torch.randn(6, 4, 3, 3)
    offset, mask, raw = torch.randn(2, 36, 12, 14), torch.rand(2, 18, 12, 14), torch.ops.torchvision
    return {
        "roi_align": (Module(lambda x, r: (ops.roi_align(x, r, (3, 4), 0.5, 2, True), ops.roi_align(x, r, (3, 4)))), (x, rois)),
        "roi_pool": (Module(lambda x, r: raw.roi_pool(x, r, 0.7, 3, 2)), (x, rois)),
        "ps_roi_align": (Module(lambda x, r: raw.ps_roi_align(x, r, 0.9, 2, 2, 2)), (x, rois)),
        "ps_roi_pool": (Module(lambda x, r: raw.ps_roi_pool(x, r, 0.9, 2, 2)), (x, rois)),
        "deform_conv2d": (Module(lambda x, o, w, m: ops.deform_conv2d(x, o, w, torch.ones(6), padding=1, mask=m)), (x, offset, w, mask)),
        "nms": (Module(lambda b, s: ops.nms(b, s, 0.3)), (box, torch.rand(6))),
    }


class Mixed(torch.nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.a, self.b, self.activation = torch.nn.Linear(32, 64), torch.nn.Linear(64, 16), activation

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = torch.cat([self.activation(self.a(x))[:, :32], x], 1)
            y = self.b(h).softmax(-1)
        return y, y.float().sum(0)


def verified():
    """A region of torch.autocast against its package: nothing wrong; with another activation, its kernel."""
    x = torch.randn(20, 32)
    with tempfile.TemporaryDirectory() as folder:
        for name, f in (("right", F.gelu), ("wrong", F.relu)):
            torch.manual_seed(1)
            program = torch.export.export(Mixed(f).eval(), (x,))
            torch.export.save(program, f"{folder}/{name}.exported.pt2")
            torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/{name}.pt2")
        torch.save([x], f"{folder}/in.pt")
        for name, status, said in (("right", 0, "nothing wrong"), ("wrong", 1, " does not compute ")):
            r = subprocess.run([f"{BUILD}/bin/aoti-verify", f"{folder}/right.exported.pt2", f"{folder}/{name}.pt2", f"{folder}/in.pt"], capture_output=True, text=True)
            test(f"aoti-verify in a region of torch.autocast: {name}", None if r.returncode == status and said in r.stdout else f"{r.returncode} {r.stdout} {r.stderr}")


def main():
    for gpu, rows, composed in policies():
        registered = {x.replace("aten::", "") for x in torch._C._dispatch_get_registrations_for_dispatch_key(f"Autocast{gpu}")}
        test(f"autocast.c has what torch {torch.__version__} has registered for {gpu}", sorted(registered - set(rows) - NOT_HERE[gpu]))
        test(f"and nothing else but what is composed, for {gpu}", sorted(set(rows) - composed - registered))
    torch.manual_seed(0)
    for name, (module, inputs) in {**CASES, **of_torchvision()}.items():
        try:
            test(name, run(module, inputs))
        except Exception as e:  # noqa: BLE001
            test(name, f"{type(e).__name__}: {e}")
    verified()
    print(f"1..{TESTS}")
    sys.exit(1 if BAD else 0)


main()
